// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "engines/host/host_options.h"
#include "experiments/laboratory/experiment_list.h"
#include "experiments/questions/design_space.h"
#include "experiments/questions/explain_question.h"
#include "experiments/questions/tuning.h"
#include "experiments/questions/work_tuning.h"
#include "harness/measurement.h"
#include "harness/runner.h"
#include "reports/findings/explanation.h"
#include "reports/tables/table.h"

namespace howard::experiments {

struct LogWorkload;

struct LaboratorySettings {
  /// The chip, the software and their constants, some of which may have several values.
  chip::ProfileChoice profiles = {};
  host::HostOptions host = {};
  std::uint64_t seed = 1;             ///< Of the values that fill host tensors.
  MemorySink* chip_memory = nullptr;  ///< Receives what the chips allocate.
  std::function<bool()> stop = {};    ///< Says whether the user wants to stop.
};

/// Is the one place where constants, a development box and the experiments are put together.
/// Everything that runs, explains or tunes goes through it, from the command line and from Python,
/// and gets values that are ready to be shown or written. Nothing is switched on before a point
/// runs.
class Laboratory {
 public:
  /// Throws Error for constants that cannot be read, or that no chip can have.
  explicit Laboratory(LaboratorySettings settings = {});

  const DevBox& box() const { return *box_; }
  const ExperimentList& experiments() const { return experiments_; }
  /// Returns the choice of constants, without those that have several values.
  const chip::ProfileChoice& profiles() const { return space_.fixed; }
  /// Returns whether constants were chosen or set.
  bool has_settings() const { return !space_.fixed.is_default() || !space_.axes.empty(); }

  /// Returns the experiment of that name. Throws Error, with a suggestion, if there is none.
  const harness::Experiment& find(const std::string& name) const;

  /// Throws Error as harness::plan_points() does, and for a tool that is to have several sets of
  /// constants. A tool looks at one set.
  PlannedExperiment plan(const harness::Experiment& experiment,
                         const harness::PlanOptions& options) const;

  /// Returns what a page shows of an experiment besides its points; nothing of an unknown one.
  std::vector<reports::Table> page_tables(std::string_view experiment) const;

  /// Returns what explains the numbers of `planned`: the machine, the program, the constants.
  harness::RunContext context_of(std::span<const PlannedExperiment> planned) const;

  /// Runs the planned points and puts the published figures beside them.
  harness::ExperimentResult run(PlannedExperiment planned, const harness::RunContext& context,
                                const harness::WallOptions& wall, harness::RunObserver& observer,
                                const harness::Workers& workers) const;

  /// Explains a point, a recorded program or a log. Throws BadRequest for a question that is not
  /// understood, and Error if the point cannot run.
  reports::Explanation explain(const ExplainQuestion& question) const;
  harness::ExperimentResult result_of(const reports::Explanation& explanation) const;

  /// Ranks the configurations of the products of `axes` (tuning.h), with the `most` best of each.
  /// Throws BadRequest for axes that describe no product.
  std::vector<Tuning> tune(const std::vector<std::string>& axes, std::size_t most,
                           int threads) const;
  harness::ExperimentResult result_of(std::span<const Tuning> tunings) const;

  /// Finds the best configurations of all calls of a point, a recorded program or a log
  /// (work_tuning.h), which explain() takes too. Throws as it does.
  WorkTuning tune(const ExplainQuestion& question, int threads, const Tried& tried = {}) const;
  /// Returns what explains the numbers of what ran on the emulator.
  harness::RunContext emulated_context() const;

 private:
  /// Throws BadRequest if a constant has several values.
  void require_one_chip(std::string_view attempted) const;
  /// Throws BadRequest if a part of something is asked for that is no log.
  void require_range(const ExplainQuestion& question) const;
  /// Returns the programs of a log, and the laboratory with the chip of the log in place of this
  /// one, if it is another.
  LogWorkload read_log(const ExplainQuestion& question, std::unique_ptr<Laboratory>& own) const;
  reports::Explanation explain_log(const ExplainQuestion& question) const;
  WorkTuning tune_log(const ExplainQuestion& question, int threads, const Tried& tried) const;

  LaboratorySettings settings_;
  DesignSpace space_;
  std::shared_ptr<const DevBox> box_;
  ExperimentList experiments_;
};

/// Returns how many threads run what is emulated: `wanted`, or as many as the machine has.
int thread_count(int wanted);

}  // namespace howard::experiments
