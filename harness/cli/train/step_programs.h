// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.h"
#include "engines/device/device.h"
#include "engines/training/recipe.h"

namespace howard::cli {

/// Describes what a training run enqueues.
struct StepPrograms {
  std::size_t different = 0;  ///< The entries of ttnn's program cache after the first step.
  std::size_t count = 0;      ///< The programs of a step.
  Flops flops;                ///< The operations of a step.
};

/// Describes the run of a recipe by recording it in front of `device`, on which nothing is done.
/// `vocabulary` is the number of rows of the token table.
StepPrograms step_programs(Device& device, const training::Recipe& recipe, std::int64_t vocabulary);

}  // namespace howard::cli
