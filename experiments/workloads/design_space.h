// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "engines/wormhole/profiles/profile.h"
#include "experiments/all.h"
#include "harness/axis.h"

namespace howard::experiments {

/// Profiles of which some constants have several values.
struct DesignSpace {
  wormhole::ProfileChoice fixed;    ///< With the settings of one value.
  std::vector<harness::Axis> axes;  ///< One for each constant of several, by its name: "12.5GB/s".
};

/// Reads the settings of `choice`: NAME=QUANTITY, NAME=QUANTITY,QUANTITY,... or
/// NAME=FIRST..LAST:STEPUNIT, the last one included where a step meets it. Error for a constant
/// there is not, a quantity it cannot have, and a range without values.
DesignSpace parse_design_space(const wormhole::ProfileChoice& choice);

/// The experiments with the axes of `space` before their own on the emulator, where each point runs
/// on a box with its values. Tools, which work on one set of constants, stay as they are.
ExperimentList vary(ExperimentList experiments, const std::shared_ptr<const DevBox>& box,
                    const DesignSpace& space);

}  // namespace howard::experiments
