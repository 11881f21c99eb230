// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "experiments/laboratory/experiment_list.h"
#include "harness/axis.h"

namespace howard::experiments {

/// Describes profiles in which some constants have several values, or several chips.
struct DesignSpace {
  chip::ProfileChoice fixed;  ///< Has the settings with one value.
  /// One for the chips if there are several, and one for each constant with several values, by its
  /// name: "12.5GB/s".
  std::vector<harness::Axis> axes;
  /// What each of several chips chooses, by its name; `fixed` is of the first one.
  std::vector<std::pair<std::string, chip::ProfileChoice>> chips;

  const chip::ProfileChoice& choice_of(std::string_view chip) const;
  /// Says which option has several values: "--chip gives several chips".
  std::string several() const;
};

/// Reads the settings of `choice`: NAME=QUANTITY, NAME=QUANTITY,QUANTITY,... or
/// NAME=FIRST..LAST:STEPUNIT, which includes LAST if a step meets it. Throws Error for an unknown
/// constant, for a quantity that it cannot have, and for a range without values.
DesignSpace parse_design_space(const chip::ProfileChoice& choice);

/// Returns the experiments with the axes of `space` before their own on the emulator. Each point
/// runs on a box with its values. Tools, which work on one set of constants, stay as they are.
ExperimentList vary(ExperimentList experiments, const std::shared_ptr<const DevBox>& box,
                    const DesignSpace& space);

}  // namespace howard::experiments
