// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "engines/language/generator.h"
#include "engines/training/config/ttml_yaml.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/recipe.h"
#include "engines/training/step_runner.h"
#include "harness/cli/command/option.h"
#include "harness/cli/train/train_files.h"

namespace howard::cli {

/// Says what TTML's files do not: how several devices share a run.
struct MeshSettings {
  mesh::PipelineSchedule schedule =
      mesh::PipelineSchedule::sequential;  ///< The order of a pipeline's passes.
  int chunks = 1;                          ///< The chunks of each stage that 1F1B interleaves.
  int tiers = 3;                           ///< The tiers of workers: 2 or 3.
};

/// The options that name a run's files: --config, --preset, --model, --device, --multihost, --with.
OptionList ttml_options(TtmlFiles& files);

/// --data and --tokenizer.
OptionList data_options(TtmlFiles& files);

/// --engine
Option engine_option(training::Engine& engine);

/// Throws UsageError if neither a file nor a preset says what is to be trained.
void require_named(const TtmlFiles& files);

/// --schedule, --chunks and --tiers.
OptionList mesh_options(MeshSettings& mesh);

/// The options that say how tokens are drawn. `temperature` describes the default.
OptionList sampling_options(language::Sampling& sampling, std::string_view temperature,
                            const Applies& applies = {});

/// Returns how several devices share a run, or nothing for one device. Throws UsageError for an
/// option that nothing here asks for, and Error as training::mesh_plan_of() does.
std::optional<training::MeshPlan> shared_plan(const training::TtmlSettings& settings,
                                              const training::Recipe& recipe,
                                              const MeshSettings& mesh);

}  // namespace howard::cli
