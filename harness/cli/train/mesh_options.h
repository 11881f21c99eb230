// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/training/config/ttml_yaml.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/recipe.h"

namespace CLI {
class App;
}

namespace howard::cli {

/// Declares --schedule, --chunks and --tiers, of which TTML's files say nothing.
void add_mesh_options(CLI::App& app, mesh::PipelineSchedule& schedule, int& chunks, int& tiers);

/// Returns how several devices share a run, or nothing for one device. Throws UsageError for an
/// option that nothing here asks for, and Error as training::mesh_plan_of() does.
std::optional<training::MeshPlan> shared_plan(const training::TtmlSettings& settings,
                                              const training::Recipe& recipe,
                                              mesh::PipelineSchedule schedule, int chunks,
                                              int tiers);

}  // namespace howard::cli
