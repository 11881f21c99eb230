// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "engines/device/program.h"
#include "engines/wormhole/kernels/planned_program.h"
#include "engines/wormhole/memory/device_memory.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::wormhole {

/// Lowers and plans each call once for each different grid, free L1, op, attributes and operand
/// specs, as ttnn's program cache does.
class ProgramCache {
 public:
  /// `profiles` must outlive it.
  explicit ProgramCache(const Profiles& profiles) : profiles_(profiles) {}

  /// The launches of `program` on a grid of `grid`; they live as long as the cache. Error when
  /// their circular buffers do not fit what `memory` leaves of L1.
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

}  // namespace howard::wormhole
