// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.h"
#include "engines/chip/kernels/plan/matmul_plan.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

/// Returns the types of a program whose inputs are two factors and perhaps a bias.
MatmulTypes types_of(const Program& product);

/// Returns the problem that `program` with `attributes` poses.
MatmulProblem problem_of(const Program& program, const MatmulAttributes& attributes);

/// Returns how many tiles of the result the destination registers hold: 8, or 4 if sums are fp32.
std::int64_t destination_tiles(const MatmulProblem& problem);

/// Follows ttnn's rules as of June 2025 to June 2026 (facts: docs/method/matmul.md, "Matmul
/// planner"). It plans the default configuration, the one for a given core grid, or the one that is
/// given. Equal input gives an equal result. Throws Error, with ttnn's reason, for a given
/// configuration that ttnn refuses.
///
/// `device_grid` is the compute grid; `circular_buffer_bytes` is the L1 that a core has for
/// circular buffers.
MatmulPlan plan_matmul(const MatmulProblem& problem, CoreGrid device_grid,
                       Bytes circular_buffer_bytes);
/// Plans the problem that `program` with `attributes` poses on the cores of `grid`, by the rules of
/// the software's version: those above, or ttnn's later selector (matmul_selector.h).
MatmulPlan plan_matmul(const Program& program, const MatmulAttributes& attributes, CoreGrid grid,
                       const Profiles& profiles);

}  // namespace howard::chip
