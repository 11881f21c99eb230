// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/step_recorder.h"

#include "base/error.h"

namespace howard::autograd {
namespace {

/// Devices count their buffers from 1 and never reach this number.
constexpr std::uint64_t kFirstBuffer = std::uint64_t{1} << 63;

[[noreturn]] void refuse(std::string_view what) {
  throw Error({.attempted = std::string(what),
               .value = "while a step is recorded",
               .accepted = "programs, and values written to what the step allocates",
               .hint = "to do it before or after the step"});
}

}  // namespace

BufferId StepRecorder::allocate(const TensorSpec& spec) {
  const BufferId buffer{kFirstBuffer + buffers_.size()};
  buffers_.emplace(buffer, Buffer{spec, false, {}});
  return buffer;
}

void StepRecorder::release(BufferId buffer) { buffers_.at(buffer).released = true; }

void StepRecorder::begin_phase(std::string_view phase) {
  phases_.push_back({std::string(phase), programs_.size()});
}

void StepRecorder::write_buffer(BufferId buffer, std::span<const std::byte> values) {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) refuse("write a buffer that outlives the step");
  found->second.values.assign(values.begin(), values.end());
}

void StepRecorder::read_buffer(BufferId, std::span<std::byte>) { refuse("read a buffer"); }
void StepRecorder::finish() { refuse("finish a queue"); }
EventId StepRecorder::record_event() { refuse("record an event"); }
void StepRecorder::wait_for_event(EventId) { refuse("wait for an event"); }
void StepRecorder::begin_trace_capture() { refuse("begin a trace capture"); }
TraceId StepRecorder::end_trace_capture() { refuse("end a trace capture"); }
void StepRecorder::execute_trace(TraceId) { refuse("execute a trace"); }
void StepRecorder::release_trace(TraceId) { refuse("release a trace"); }
void StepRecorder::set_sub_devices(std::span<const CoreRange>) { refuse("divide the device"); }
void StepRecorder::use_host_thread(int) { refuse("change the host thread"); }
void StepRecorder::join_host_threads() { refuse("join host threads"); }
void StepRecorder::set_trace_sink(EventSink*) { refuse("set a trace sink"); }

}  // namespace howard::autograd
