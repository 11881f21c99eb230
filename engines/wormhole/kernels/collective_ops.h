// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/collective.h"
#include "engines/wormhole/kernels/planned_program.h"

namespace howard::wormhole {

/// Plans a collective on a line of chips over one link: the kernel takes the time of chip_links.h,
/// from its start on all chips. Dispatching costs as much as for the workers, senders and receivers
/// of ttnn's kernels.
PlannedProgram plan_collective(const Program& program, const Collective& collective, CoreGrid grid,
                               const Profiles& profiles);

}  // namespace howard::wormhole
