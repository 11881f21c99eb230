// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "engines/language/generator.h"
#include "engines/training/checkpoint.h"
#include "engines/training/config/ttml_yaml.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/recipe.h"
#include "engines/training/trainer.h"
#include "harness/cli/train/train_files.h"
#include "harness/result.h"
#include "reports/pictures/picture.h"

namespace howard::cli {

/// Holds what `train_nano_gpt` is asked for. The manual is train_help.md.
struct TrainOptions {
  bool help = false;               ///< Nothing else is looked at then.
  std::string verb;                ///< "train", or its short form "train_nano_gpt".
  std::vector<std::string> given;  ///< The options of the command line, by their long names.

  // These are options of `train`.
  TtmlFiles files;
  bool print_config = false;  ///< Nothing is trained then.
  training::TtmlSettings settings;
  std::string name;               ///< The run's name, in what it writes.
  std::int64_t eval_every = 0;    ///< Steps between two validations; 0: there are none.
  std::int64_t eval_batch = 1;    ///< Sequences of a validation.
  std::int64_t epochs = 0;        ///< The run ends after so many; 0: after its steps alone.
  std::filesystem::path weights;  ///< What it starts from: safetensors, a file or a folder.

  std::filesystem::path exported;  ///< The weights go there at the end, as safetensors; empty: not.

  std::filesystem::path data;
  /// A tokenizer.json, for `train` with a tokenizer_type of bpe; if it is empty, the data are
  /// tokens.
  std::filesystem::path tokenizer;
  training::Recipe recipe;
  /// The way in which several devices share the run; absent for one device.
  std::optional<training::MeshPlan> plan;
  mesh::PipelineSchedule schedule =
      mesh::PipelineSchedule::sequential;  ///< The order of a pipeline's passes.
  int chunks = 1;                          ///< The chunks of each stage that 1F1B interleaves.
  int tiers = 3;                           ///< The tiers of workers: 2 or 3.
  training::Engine engine = training::Engine::static_step;
  harness::Backend backend = harness::Backend::host;
  int threads = 0;  ///< 0 stands for all threads that the process may use.
  /// If true, a run that is not resumed multiplies in the ways that are fastest on this machine; a
  /// resumed one keeps its ways.
  bool tuning = true;
  bool binding = true;  ///< Threads stay on cores of their own where that is possible.
  chip::ProfileChoice profiles;

  std::filesystem::path checkpoint;  ///< Empty if the run is not saved.
  std::int64_t every = 100;          ///< The steps between two checkpoints.
  /// Holds what was read from `checkpoint` if the run goes on from there.
  std::optional<training::Checkpoint> resumed;

  std::int64_t generate = 0;          ///< The number of characters.
  std::optional<std::string> prompt;  ///< Absent for the first character of the data.
  language::Sampling sampling;

  std::filesystem::path memory;   ///< A folder; empty if no files are wanted.
  reports::Canvas canvas;         ///< The settings of its picture; the folder is not used.
  std::filesystem::path results;  ///< A folder; empty if no file is wanted.
  bool page = false;              ///< True if index.html is written there.
  bool progress = true;
};

/// Parses the command line. It also reads the checkpoint that is to be resumed, whose settings are
/// then the defaults. Throws UsageError for a bad command line; throws Error for a bad checkpoint.
TrainOptions parse_train_options(int argc, const char* const* argv);

}  // namespace howard::cli
