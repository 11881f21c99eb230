// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.h"
#include "engines/chip/kernels/plan/matmul_plan.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

/// What a product is computed with, which decides how long its candidates take and what they hold.
struct SelectedArithmetic {
  MathFidelity fidelity = MathFidelity::hifi2;
  bool fp32_accumulation = false;
};

/// Follows ttnn's selector of autumn 2026 (matmul_auto_config, tt-metal#57884): of a configuration
/// of each family, 2D, 1D with A or B shared, and reuse, the one whose roofline is lowest. Shards
/// say which family it is. `l1` is what a core has for circular buffers. Returns nothing where no
/// family fits; ttnn then keeps the older rules.
std::optional<MatmulConfig> select_config(const MatmulProblem& problem, CoreGrid grid, Bytes l1,
                                          const SelectedArithmetic& arithmetic,
                                          const ChipProfile& chip);

}  // namespace howard::chip
