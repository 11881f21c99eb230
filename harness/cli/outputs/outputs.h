// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "harness/cli/command/shared_options.h"
#include "harness/experiment.h"
#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/pictures/picture.h"
#include "reports/tables/table.h"

namespace howard::cli {

/// Holds one finished experiment and how it is to be shown.
struct Finished {
  harness::ExperimentResult result;
  harness::Presentation presentation;
  std::vector<harness::Document> documents;
  double seconds = 0;           ///< The wall time that it took.
  std::string_view question{};  ///< The question that the experiment asks.
  /// True if the tables of the emulated points were shown before the host's points ran.
  bool emulated_is_shown = false;
  /// If it is not empty, these tables replace those that the presentation makes.
  std::vector<reports::Table> tables;
  /// If it is set, it draws the pictures in place of those that the presentation makes.
  std::function<reports::PlotFiles(const reports::Canvas&)> draw{};
  std::function<std::string()> python{}, mlir{};  ///< Configurations, if the command has some.
};

/// Writes the results of a run to the places that the options name. If a file cannot be written,
/// that is reported on standard error, and the other files are still written.
class Outputs {
 public:
  explicit Outputs(const OutputPlaces& places);

  /// Throws Error if a place for results cannot be written; this is checked before any time is
  /// spent.
  void require_writable() const;

  /// Returns true once a second, so that a killed run loses only its last second. If a checkpoint
  /// takes long, it is true less often: writing them takes a tenth of a run at most.
  bool wants_checkpoint() const { return Clock::now() >= next_checkpoint_; }
  /// Saves the points that a running experiment has finished to its JSON file.
  void checkpoint(const harness::ExperimentResult& running,
                  std::vector<const harness::PointResult*> points);

  /// Notes that an experiment has ended and prints those of its tables that were not shown before.
  /// They go to standard output, or to standard error if a file goes to standard output.
  void finish(const Finished& finished);

  /// Prints the tables of everything that has ended so far.
  void show(const Finished& finished) const;
  /// Prints tables to the place where those of the experiments go.
  void print(const std::vector<reports::Table>& tables) const;

  /// Writes all files. Returns false if one could not be written.
  bool write(const std::vector<Finished>& finished);

  /// Writes one more text of this run to `file`. The result is that of write().
  bool add_file(const std::filesystem::path& file, const std::string& text);

  /// Says what was written, "wrote results/matmul_sweep.{json,csv,md}", and which files of the same
  /// names in these folders are not from this run.
  void print_written() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kCheckpointInterval{1};

  /// Says whether the folder of the results gets files of this run.
  bool has_folder() const {
    return places_.keeps_all || (!places_.files.are_all() && !places_.results.empty());
  }
  /// Says whether it gets a file of each form; a single point that nobody
  /// asked a folder for gets its JSON.
  bool fills_folder(const std::vector<Finished>& finished) const;
  void write_folder(const Finished& finished, bool all);
  void write_text(const std::filesystem::path& file, const TextSource& source);
  void draw(const Finished& finished, const reports::Canvas& canvas);
  std::filesystem::path plot_folder() const;
  /// Returns the files that earlier runs of the experiments have left beside the files of this one.
  std::vector<std::filesystem::path> left_over() const;
  bool uses_standard_output() const;
  /// Runs a step. An Error in it goes to standard error and makes write() return false.
  template <class Step>
  void attempt(Step step);
  /// Reports that something could not be written.
  void fail(const std::string& failure);

  const OutputPlaces& places_;
  /// They are kept for a JSON file that all experiments share.
  std::vector<harness::ExperimentResult> finished_;
  std::vector<std::string> names_;  ///< The experiments whose files were written.
  std::vector<std::filesystem::path> written_;
  std::filesystem::file_time_type started_ = std::filesystem::file_time_type::clock::now();
  bool all_written_ = true;
  bool has_warned_ = false;  ///< True once a failed checkpoint was reported.
  Clock::time_point next_checkpoint_ = Clock::now() + kCheckpointInterval;
};

}  // namespace howard::cli
