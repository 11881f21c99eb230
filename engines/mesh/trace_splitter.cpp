// SPDX-License-Identifier: Apache-2.0
#include "engines/mesh/trace_splitter.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace howard::mesh {

void TraceSplitter::enqueue(const Program& program) {
  if (!runs_itself(program)) {
    part_is_empty_ = false;
    return queue_behind().enqueue(program);
  }
  if (!capture_) return run(program);
  capture_->push_back({end_part(), program});
  queue_behind().begin_trace_capture();
}

void TraceSplitter::begin_trace_capture() {
  queue_behind().begin_trace_capture();
  capture_.emplace();
  part_is_empty_ = true;
}

std::optional<TraceId> TraceSplitter::end_part() {
  const TraceId part = queue_behind().end_trace_capture();
  if (!std::exchange(part_is_empty_, true)) return part;
  behind().release_trace(part);
  return std::nullopt;
}

TraceId TraceSplitter::end_trace_capture() {
  Trace trace;
  if (capture_) trace = std::move(*capture_);
  capture_.reset();
  try {
    trace.push_back({end_part(), std::nullopt});
  } catch (...) {
    release_parts(trace);
    throw;
  }
  const TraceId id{next_trace_++};
  traces_.emplace(id, std::move(trace));
  return id;
}

void TraceSplitter::execute_trace(TraceId trace) {
  for (const TracePart& part : find(trace)->second) {
    if (part.programs) queue_behind().execute_trace(*part.programs);
    if (part.on_host) run(*part.on_host);
  }
}

void TraceSplitter::release_trace(TraceId trace) {
  const auto found = find(trace);
  release_parts(found->second);
  traces_.erase(found);
}

void TraceSplitter::release_parts(const Trace& trace) {
  for (const TracePart& part : trace) {
    if (part.programs) behind().release_trace(*part.programs);
  }
}

std::map<TraceId, TraceSplitter::Trace>::iterator TraceSplitter::find(TraceId trace) {
  const auto found = traces_.find(trace);
  if (found != traces_.end()) return found;
  throw Error({.attempted = "use a trace of a device in a mesh",
               .value = fmt::format("trace {}", static_cast<std::uint64_t>(trace)),
               .accepted = "a trace that was captured on this device and not released"});
}

}  // namespace howard::mesh
