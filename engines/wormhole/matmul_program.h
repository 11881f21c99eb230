// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/wormhole/matmul_planner.h"
#include "engines/wormhole/profile.h"

namespace howard::wormhole {

/// How ttnn would run the matrix product `program` on a compute grid of `grid`.
MatmulPlan plan_of(const Program& program, const MatmulAttributes& attributes, CoreGrid grid,
                   const Profiles& profiles);

}  // namespace howard::wormhole
