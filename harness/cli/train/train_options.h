// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_lock.h"
#include "engines/chip/profiles/profile.h"
#include "engines/language/generator.h"
#include "engines/training/checkpoint.h"
#include "engines/training/config/ttml_yaml.h"
#include "engines/training/parallel/mesh_plan.h"
#include "engines/training/recipe.h"
#include "engines/training/trainer.h"
#include "harness/cli/command/given.h"
#include "harness/cli/outputs/output_files.h"
#include "harness/cli/train/model_options.h"
#include "harness/result.h"
#include "reports/pictures/picture.h"

namespace howard::cli {

/// The name of the command, in what it writes.
inline constexpr std::string_view kTrainName = "train";
/// The file of its results.
inline constexpr const char* kTrainResult = "train.json";

/// Holds what `train` is asked for.
struct TrainOptions {
  training::TtmlFiles files;
  bool print_config = false;  ///< Nothing is trained then.
  training::TtmlSettings settings;
  std::string name;               ///< The run's name, in what it writes.
  std::int64_t eval_every = 0;    ///< Steps between two validations; 0: there are none.
  std::int64_t eval_batch = 1;    ///< Sequences of a validation.
  std::int64_t epochs = 0;        ///< The run ends after so many; 0: after its steps alone.
  std::filesystem::path weights;  ///< What it starts from: safetensors, a file or a folder.

  std::filesystem::path exported;  ///< The weights go there at the end, as safetensors; empty: not.

  std::filesystem::path data;
  /// A tokenizer.json, for a tokenizer_type of bpe; if it is empty, the data are tokens.
  std::filesystem::path tokenizer;
  training::Recipe recipe;
  /// The way in which several devices share the run; absent for one device.
  std::optional<training::MeshPlan> plan;
  training::MeshSettings mesh;
  training::Engine engine = training::Engine::dynamic;  ///< TTML's engine.
  harness::Backend backend = harness::Backend::host;
  int threads = 0;      ///< 0 stands for all threads that the process may use.
  bool binding = true;  ///< Threads stay on cores of their own where that is possible.
  chip::ProfileChoice profiles;

  std::filesystem::path checkpoint;  ///< Empty if the run is not saved.
  std::int64_t every = 100;          ///< The steps between two checkpoints; 0: at the end alone.
  bool resume = false;               ///< The run goes on from `checkpoint`.
  bool force = false;                ///< The run takes the place of one whose files are there.
  /// Keep other runs from the checkpoint and the results while this one lasts.
  std::vector<std::shared_ptr<const FileLock>> places;
  /// Holds what was read from `checkpoint` if the run goes on from there.
  std::optional<training::Checkpoint> resumed;

  std::int64_t generate = 0;          ///< The number of characters.
  std::optional<std::string> prompt;  ///< Absent for the first character of the data.
  language::Sampling sampling;

  std::filesystem::path memory;     ///< A folder; empty if no files are wanted.
  reports::Canvas canvas;           ///< The settings of its picture; the folder is not used.
  std::filesystem::path results;    ///< A folder; empty if no file is wanted.
  std::optional<std::string> page;  ///< Where a page goes; "": to index.html in `results`.
  OutputFiles outputs;              ///< What -o and --format ask for.
  bool progress = true;

  bool is_saved_after(std::int64_t step) const { return every > 0 && step % every == 0; }
  /// Returns the file of the page; empty if none is wanted.
  std::filesystem::path page_file() const {
    if (!page) return {};
    return page->empty() ? results / "index.html" : std::filesystem::path(*page);
  }
};

/// Returns the options of `train`.
OptionList train_options(TrainOptions& options);

/// Puts what the files say under what the command line gives, and reads the checkpoint that is to
/// be resumed. Throws UsageError for a bad command line; throws Error for bad files and for a bad
/// checkpoint.
void complete(TrainOptions& options, const Given& given);

/// Locks the checkpoint and the folder of the results. Throws Error if another run writes there
/// now. Of several processes, the first rank does this.
std::vector<std::shared_ptr<const FileLock>> taken_places(const TrainOptions& options);

}  // namespace howard::cli
