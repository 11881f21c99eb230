// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "base/units.h"
#include "engines/chip/dispatch/simulation.h"
#include "engines/device/device.h"

namespace howard::chip {

/// Holds the captured traces and accounts for the region of the DRAM that they occupy.
class TraceStore {
 public:
  explicit TraceStore(Bytes region) : region_(region) {}

  /// Stores a trace. Throws Error when its `size` does not fit the region any more.
  TraceId keep(Recording recording, Bytes size);
  /// These throw Error when there is no such trace, or when it was released.
  std::shared_ptr<const Recording> find(TraceId trace) const;
  void release(TraceId trace);

 private:
  struct Entry {
    std::shared_ptr<const Recording> recording;
    Bytes size;
  };

  const Entry& entry(TraceId trace) const;

  Bytes region_;
  Bytes used_;
  std::uint64_t next_ = 1;
  std::map<TraceId, Entry> entries_;
};

}  // namespace howard::chip
