// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "engines/chip/kernels/matmul/matmul_planner.h"

namespace howard::chip {

/// Returns why ttnn refuses `config` for `problem` on a device of `device_grid`, in its words and
/// with the sizes in tiles: "Kt must be divisible by in0_block_w: Kt is 128, in0_block_w 3".
/// Returns nothing if ttnn takes it, provided that the circular buffers fit in L1, which is found
/// out when the program is made.
std::optional<std::string> matmul_objection(const MatmulProblem& problem,
                                            const MatmulConfig& config, CoreGrid device_grid);

}  // namespace howard::chip
