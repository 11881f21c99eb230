// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/training/config/ttml_yaml.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/recipe.h"

namespace howard::training {

/// Returns how the devices of device_config and multihost_config share a run, or nothing if there
/// is one device. Throws Error, with its line, for a key that nothing here follows and for a mesh
/// that does not divide batch, heads or blocks.
std::optional<MeshPlan> mesh_plan_of(const TtmlSettings& settings, const Recipe& recipe);

}  // namespace howard::training
