// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engines/chip/kernels/plan/matmul_plan.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

/// A launch of a call. A product is planned when its call is lowered, because what ttnn launches
/// depends on the plan.
struct LoweredLaunch {
  Program program;
  std::optional<MatmulPlan> matmul;  ///< Only for a matrix product.
};

/// Returns the launches that ttnn makes of one call, in its order, on the cores of `grid`. Most
/// calls are one launch. Several are needed for a reduction over all dimensions, ttnn's gelu
/// backward, elementwise ops on row-major operands, and products whose kernel cannot transpose.
/// What one launch hands to a later one is a temporary, whose number no buffer has. For the method
/// see docs/method/ops.md, "Other ops".
std::vector<LoweredLaunch> lower(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Returns the most DRAM that the temporaries of a call take at once. Each lives from the launch
/// that writes it to the last one that reads it.
Bytes temporary_bytes(std::span<const LoweredLaunch> launches);

/// Returns an op without what does not change its launches or their times: scalars, seeds and
/// rates.
Attributes without_values(Attributes attributes);

/// Returns `program` without its values and its buffers. If two of these results are equal, the
/// programs are the same to the chip. ttnn's program cache does the same.
Program timing_key(const Program& program);

}  // namespace howard::chip
