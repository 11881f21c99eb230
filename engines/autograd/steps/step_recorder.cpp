// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/steps/step_recorder.h"

#include <algorithm>

#include "base/error.h"

namespace howard::autograd {
namespace {

/// Devices count their buffers from 1 and never reach this number.
constexpr std::uint64_t kFirstBuffer = std::uint64_t{1} << 63;

}  // namespace

void StepRecorder::before(std::string_view what) {
  throw Error({.attempted = std::string(what),
               .value = "while a step is recorded",
               .accepted = "programs, and values written to what the step allocates",
               .hint = "to do it before or after the step"});
}

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
  if (found == buffers_.end()) before("write a buffer that outlives the step");
  found->second.values.assign(values.begin(), values.end());
}

void StepRecorder::read_buffer(BufferId /*buffer*/, std::span<std::byte> values) {
  if (reads_ == Reads::refused) before("read a buffer");
  std::ranges::fill(values, std::byte{0});
}

}  // namespace howard::autograd
