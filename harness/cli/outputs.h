// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cli/options.h"
#include "harness/experiment.h"
#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/picture.h"
#include "reports/tables/table.h"

namespace howard::cli {

/// One finished experiment and how it wants to be shown.
struct Finished {
  harness::ExperimentResult result;
  harness::Presentation presentation;
  std::vector<harness::Document> documents;
  double seconds = 0;           ///< Wall time that it took.
  std::string_view question{};  ///< Of the experiment.
  /// The tables of the emulated points were shown before the host's points ran.
  bool emulated_is_shown = false;
  /// Shown in place of the tables that the presentation makes; none: those.
  std::vector<reports::Table> tables;
};

/// Writes what a run has found to where the options say. A file that can not be written is
/// reported on standard error and never keeps the others from being written.
class Outputs {
 public:
  explicit Outputs(const Options& options);

  /// Error when a place where results are to go can not be written, before any time is spent.
  void require_writable() const;

  /// True once a second, so that a killed run has lost the last second only; less often when a
  /// checkpoint takes long: writing them is a tenth of a run at most.
  bool wants_checkpoint() const { return Clock::now() >= next_checkpoint_; }
  /// Saves the points that a running experiment has so far to its JSON file.
  void checkpoint(const harness::ExperimentResult& running,
                  std::vector<const harness::PointResult*> points);

  /// Takes note of an experiment that has ended and prints its tables, but for those that were
  /// shown already, to standard output (to standard error when a file goes to standard output).
  void finish(const Finished& finished);

  /// Prints the tables of what has ended so far.
  void show(const Finished& finished) const;
  /// Prints tables where those of the experiments go.
  void print(const std::vector<reports::Table>& tables) const;

  /// All files. Returns false when one could not be written.
  bool write(const std::vector<Finished>& finished);

  /// Writes one more text of this run to `file`; returns as write().
  bool add_file(const std::filesystem::path& file, const std::string& text);

  /// Draws on a canvas in the folder of the plots; returns as write().
  bool add_picture(const std::function<reports::PlotFiles(const reports::Canvas&)>& draw);

  /// Says what was written, "wrote results/matmul_sweep.{json,csv,md}", and which files of the same
  /// names in these folders are not of this run.
  void print_written() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kCheckpointInterval{1};

  std::filesystem::path file_for(const std::string& given, const std::string& experiment,
                                 const char* extension) const;
  std::filesystem::path plot_folder() const;
  /// What earlier runs of the experiments have left beside the files of this one.
  std::vector<std::filesystem::path> left_over() const;
  bool uses_standard_output() const;
  /// Runs a step; an Error in it goes to standard error and makes the result of write() false.
  template <class Step>
  void attempt(Step step);
  /// Says that something could not be written.
  void complain(const std::string& failure);

  const Options& options_;
  std::vector<harness::ExperimentResult> finished_;  ///< Kept for a JSON file that all share.
  std::vector<std::string> names_;  ///< Of the experiments whose files were written.
  std::vector<std::filesystem::path> written_;
  bool all_written_ = true;
  bool has_warned_ = false;  ///< That a checkpoint could not be written.
  Clock::time_point next_checkpoint_ = Clock::now() + kCheckpointInterval;
};

}  // namespace howard::cli
