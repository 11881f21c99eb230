// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/laboratory/laboratory.h"
#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/tables/table.h"

namespace howard::experiments {

/// Says how a result is shown where only the result is left.
struct Shown {
  std::string question;  ///< What it answers; empty if nobody asked.
  harness::Presentation presentation;
};

/// Knows how each result is shown, wherever it came from: that of an experiment, of a training, of
/// written text, of `explain` or `tune`. Of an experiment of another version everything is shown.
class Presentations {
 public:
  /// Asks each experiment on a box that is never switched on.
  Presentations();

  Shown of(const harness::ExperimentResult& result) const;

  /// Returns whether one of the experiments has this name.
  bool is_experiment(std::string_view name) const;

  /// Returns what a page shows of an experiment besides its points, with the built-in constants.
  std::vector<reports::Table> page_tables(std::string_view experiment) const {
    return laboratory_.page_tables(experiment);
  }

  /// Sorts results in the order of `list`; those of unknown experiments follow.
  void sort(std::vector<harness::ExperimentResult>& results) const;

 private:
  struct Known {
    std::string name;
    Shown shown;
  };
  Laboratory laboratory_;
  std::vector<Known> known_;
};

/// Returns how the result of a training run is shown.
harness::Presentation training_presentation();

}  // namespace howard::experiments
