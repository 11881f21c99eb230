// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/memory/device_memory.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

/// Lowers and plans a call once for each combination of grid, free L1, op, attributes and operand
/// specs, as ttnn's program cache does.
class ProgramCache {
 public:
  /// `profiles` must outlive the cache.
  explicit ProgramCache(const Profiles& profiles) : profiles_(profiles) {}

  /// Returns the launches of `program` on the cores of `grid`; they live as long as the cache.
  /// Throws Error when their circular buffers do not fit into the L1 that `memory` leaves free.
  const std::vector<PlannedProgram>& launches(const Program& program, CoreGrid grid,
                                              const DeviceMemory& memory);

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
  std::map<Key, std::vector<PlannedProgram>, Less> planned_;
};

}  // namespace howard::chip
