// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "engines/language/generator.h"
#include "engines/training/config/ttml_files.h"
#include "engines/training/config/ttml_mesh.h"
#include "engines/training/step_runner.h"
#include "harness/cli/command/option.h"

namespace howard::cli {

/// The options that name a run's files: --config, --preset, --model, --device, --multihost, --with.
OptionList ttml_options(training::TtmlFiles& files);

/// --data and --tokenizer.
OptionList data_options(training::TtmlFiles& files);

/// --engine
Option engine_option(training::Engine& engine);

/// --schedule, --chunks and --tiers.
OptionList mesh_options(training::MeshSettings& mesh);

/// The options that say how tokens are drawn. `temperature` describes the default.
OptionList sampling_options(language::Sampling& sampling, std::string_view temperature,
                            const Applies& applies = {});

}  // namespace howard::cli
