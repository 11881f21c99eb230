// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "engines/training/config/ttml_files.h"
#include "engines/training/config/ttml_mesh.h"
#include "experiments/training_plan/generation_plan.h"
#include "experiments/training_plan/run_plan.h"
#include "harness/result.h"

namespace howard::experiments {

/// Asks what a training run would take on emulated chips, and which settings are faster.
struct FitQuestion {
  training::TtmlFiles files;
  training::MeshSettings mesh;
  training::Engine engine = training::Engine::dynamic;  ///< Others without stages or tiers.
  chip::ProfileChoice profiles;
  bool search = true;  ///< Looks for other settings that make the same update.
};

struct FitAnswer {
  std::string name;                ///< The run's.
  std::string chip;                ///< The chip's.
  std::vector<std::string> notes;  ///< What there is to say of the files, a sentence each.
  RunPlan plan;                    ///< What the files ask for, with its memory.
  std::optional<GenerationPlan> generation;  ///< Of a llama that learns from its own completions.
  std::int64_t generations = 0;              ///< How often the run makes it.
  std::vector<RunPlan> others;               ///< The best other settings, the fastest first.
};

/// Hears of an answer before all of it is there. Functions that are empty hear nothing.
struct FitObserver {
  std::function<void(const std::string&)> note;   ///< A sentence about what the files say.
  std::function<void(const FitAnswer&)> planned;  ///< The answer has its plan, and no others.
  std::function<void()> before_plan;              ///< The search is about to plan another run.
};

/// Answers the question. Throws BadRequest for settings that do not go together, and Error for
/// files that cannot be read and runs that cannot be planned.
FitAnswer fit(const FitQuestion& question, const FitObserver& observer = {});

/// Holds a training run as its files describe it.
struct DescribedRun {
  RunSetting setting;
  std::vector<std::string> notes;  ///< What there is to say of the files, a sentence each.
};
/// Reads the file of a training, and those that it names. Throws Error if it cannot be planned.
DescribedRun described_run(const std::string& file);
/// Says whether a word names such a file: it ends in .yaml or .yml.
bool names_training(std::string_view word);
/// Returns how chips share the run in the words of the experiment `parallel`, the model being the
/// file. Throws Error for tiers and for chips that divide each parameter, which it does not have.
harness::Parameters shared_as(const std::string& file, const RunSetting& setting);

/// Says whether a plan takes a bearable time: at most 1024 blocks (TTML's largest model has 126),
/// and batches of 2^24 tokens, which no chip holds.
bool is_plannable(const training::Recipe& recipe);

/// Returns the answer as JSON of the schema howard.fit/2.
std::string fit_json(const FitAnswer& answer);

}  // namespace howard::experiments
