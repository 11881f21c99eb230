// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/units.h"
#include "engines/device/program.h"

namespace howard {

/// Who holds how much of a device's memory. Hands out buffer ids, never the same twice.
class MemoryLedger {
 public:
  /// `memory` names it in errors: "DRAM of wormhole_b0_n300".
  MemoryLedger(std::string memory, Bytes capacity);

  /// Error when `size` does not fit any more, with the size asked for, what is free and the
  /// largest holders.
  BufferId reserve(const TensorSpec& spec, Bytes size);
  /// Error for a buffer that does not exist (never did, or was released).
  void release(BufferId buffer);
  /// The spec a buffer was reserved for. Error for a buffer that does not exist.
  const TensorSpec& spec(BufferId buffer) const;

  /// For errors: "; largest holders: buffer 1 (1024x1024 bfloat16) 2.0 MiB, ..."; empty when
  /// nothing is held.
  std::string largest_holders() const;

  Bytes used() const { return used_; }

 private:
  struct Entry {
    TensorSpec spec;
    Bytes size;
  };

  const Entry& entry(BufferId buffer) const;

  std::string memory_;
  Bytes capacity_;
  Bytes used_;
  std::uint64_t next_ = 1;
  std::map<BufferId, Entry> entries_;
};

}  // namespace howard
