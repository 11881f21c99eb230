// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/training/config/ttml_yaml.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/recipe.h"

namespace howard::training {

/// Says what TTML's files do not: how several devices share a run.
struct MeshSettings {
  static constexpr int kMostChunks = 64;
  mesh::PipelineSchedule schedule =
      mesh::PipelineSchedule::sequential;  ///< The order of a pipeline's passes.
  int chunks = 1;                          ///< The chunks of each stage that 1F1B interleaves.
  int tiers = 3;                           ///< The tiers of workers: 2 or 3.
};

/// Returns how the devices of device_config and multihost_config share a run, or nothing if there
/// is one device. Throws Error, with its line, for a key that nothing here follows and for a mesh
/// that does not divide batch, heads or blocks, and BadRequest for a setting of `mesh` that the
/// files have no devices for.
std::optional<MeshPlan> mesh_plan_of(const TtmlSettings& settings, const Recipe& recipe,
                                     const MeshSettings& mesh = {});

/// Returns a sentence for each key that changes nothing on these devices; no plan is one device.
std::vector<std::string> idle_keys(const TtmlSettings& settings, const Recipe& recipe,
                                   const std::optional<MeshPlan>& plan);

}  // namespace howard::training
