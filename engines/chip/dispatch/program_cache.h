// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/memory/device_memory.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

/// What ttnn makes of a call.
struct PlannedCall {
  std::vector<PlannedProgram> launches;
  Bytes temporaries;  ///< The DRAM of what one launch hands to another, while the call runs.
};

/// Lowers and plans a call once for each combination of grid, free L1, op, attributes and operand
/// specs, as ttnn's program cache does.
class ProgramCache {
 public:
  /// `profiles` must outlive the cache.
  explicit ProgramCache(const Profiles& profiles) : profiles_(profiles) {}

  /// Returns what is made of `program` on the cores of `grid`; it lives as long as the cache.
  /// Throws Error when circular buffers do not fit into the L1 that `memory` leaves free.
  const PlannedCall& call(const Program& program, CoreGrid grid, const DeviceMemory& memory);

 private:
  struct Key {
    CoreGrid grid;
    Bytes l1_free;
    Program program;  ///< Only what its timing depends on.
  };
  struct Less {
    bool operator()(const Key& a, const Key& b) const;
  };

  const Profiles& profiles_;
  std::map<Key, PlannedCall, Less> planned_;
};

}  // namespace howard::chip
