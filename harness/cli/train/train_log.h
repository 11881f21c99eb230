// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "engines/device/device.h"
#include "engines/language/weights/model_weights.h"
#include "engines/training/config/ttml_yaml.h"
#include "harness/result.h"
#include "profiler/memory.h"
#include "reports/pictures/picture.h"

namespace howard::cli {

/// Returns TTML's two lines of a step: "Step: 1, Loss: 4.5625" and "Full step time 12.345 ms, cache
/// entries: 78".
std::string ttml_step_lines(std::int64_t step, double loss, double seconds,
                            std::size_t cache_entries);

/// Returns the most memory that was in use at once in any phase.
Bytes most_memory(const Device& device);

/// Holds what the steps of a training run have given. There is at least one step, and the first
/// three have one value for each.
struct TrainedSteps {
  std::vector<double> losses, seconds, rates;  ///< `rates` are the learning rates.
  std::vector<double> validation_losses;       ///< None if nothing was held out.
  double tokens_per_second = 0;
  Bytes memory;  ///< The most that a device had in use at once.
};

/// Returns the metrics that every training run has: "loss", "time", "tokens" a second,
/// "learning_rate", "memory" and, where it was validated, "validation_loss".
std::vector<harness::Metric> training_metrics(const TrainedSteps& steps);

/// Says what an import of weights has left aside, a line for each.
std::string left_aside_text(const language::ImportedWeights& weights, const std::string& verb,
                            const std::filesystem::path& source);

/// Describes a finished or interrupted run, for the metrics.
struct TtmlRun {
  std::string name;            ///< The run's.
  std::string file;            ///< The training file.
  std::string device;          ///< The device in words.
  std::vector<double> losses;  ///< One for each step.
  std::vector<double> seconds;
  std::optional<profiler::MemoryUse> memory;  ///< The set-up and the first step.
  double device_memory = 0;                   ///< Bytes; 0: not known.
  double flops_per_step = 0;
  double peak_flops = 0;  ///< The device's FLOP/s; 0: not known, and no share of it is given.
};

/// Returns the JSON that TTML's tools/run_models.py makes of a run (TtTrainMetricsData), with the
/// fields that a run without TTML has.
std::string ttml_metrics_json(const TtmlRun& run);

/// Keeps what TTML hands to Weights & Biases, as JSON lines: first the configuration, then a line
/// for each step, with Step, Samples, Loss and Learning rate.
class TtmlStepLog {
 public:
  /// Nothing is written where `folder` is empty. If `done` is above 0, the lines of the steps up to
  /// it that the folder has already stay, with their configuration. Throws Error when a file cannot
  /// be written.
  TtmlStepLog(const std::filesystem::path& folder, const training::TtmlConfig& config,
              std::string_view name, double parameters, std::int64_t done);

  void add(std::int64_t step, double samples, double loss, float learning_rate);
  /// Writes the lines so far to steps.jsonl, and their loss as a picture to loss.png and loss.svg,
  /// in the folder.
  void write(const reports::Canvas& canvas) const;

 private:
  /// Takes the lines of an earlier part of the run.
  void keep(std::string_view earlier, std::int64_t done);

  std::filesystem::path folder_;
  std::string lines_;
  std::vector<std::pair<std::int64_t, double>> losses_;
};

}  // namespace howard::cli
