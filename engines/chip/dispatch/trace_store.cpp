// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/dispatch/trace_store.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace howard::chip {

TraceId TraceStore::keep(Recording recording, Bytes size) {
  if (size > region_ - used_) {
    throw Error({.attempted = "keep a trace",
                 .value = fmt::format("it needs {} bytes, {} of the trace region are free",
                                      size.value(), (region_ - used_).value()),
                 .accepted = fmt::format("{} bytes in all", region_.value()),
                 .hint = fmt::format("to release other traces, or --set trace.region={}B",
                                     (used_ + size).value())});
  }
  used_ += size;
  const TraceId id{next_++};
  entries_.emplace(id, Entry{std::make_shared<const Recording>(std::move(recording)), size});
  return id;
}

std::shared_ptr<const Recording> TraceStore::find(TraceId trace) const {
  return entry(trace).recording;
}

void TraceStore::release(TraceId trace) {
  used_ = used_ - entry(trace).size;
  entries_.erase(trace);
}

const TraceStore::Entry& TraceStore::entry(TraceId trace) const {
  const auto found = entries_.find(trace);
  if (found == entries_.end()) {
    throw Error({.attempted = "use a trace",
                 .value = fmt::format("there is no trace {}", static_cast<std::uint64_t>(trace)),
                 .accepted = "a trace that was captured on this device and not released"});
  }
  return found->second;
}

}  // namespace howard::chip
