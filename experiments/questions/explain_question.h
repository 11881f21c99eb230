// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bad_request.h"
#include "base/error.h"
#include "engines/chip/profiles/profile.h"
#include "experiments/laboratory/experiment_list.h"
#include "harness/experiment.h"
#include "profiler/formats/log.h"
#include "reports/findings/explanation.h"

namespace howard::experiments {

/// Holds what is to be explained, as a user says it.
struct ExplainQuestion {
  /// "matmul", "mlp", "gpt2", "ops", an experiment, or the file of a recorded program or a log;
  /// empty for a product, whose sizes the axes give.
  std::string what;
  std::vector<std::string> axes;  ///< "AXIS=VALUE"; m, k and n are the sizes of a product.
  chip::ProfileChoice profiles;
  profiler::LogRange range = {};      ///< The part of a log that is explained.
  std::string_view verb = "explain";  ///< What is done with it, for errors.
};

/// Returns the points that the question means: one, unless nobody set some axes. Throws
/// BadRequest, also for an experiment that times nothing on the emulator.
PlannedExperiment plan_explanation(const ExplainQuestion& question, const ExperimentList& list);

/// Returns the point of one experiment that the question's axes mean.
PlannedExperiment plan_explanation(const ExplainQuestion& question,
                                   const harness::Experiment& experiment);

/// Returns the first of the points that the emulator can run. Throws Error, with the first one's
/// reason, if none can.
harness::Parameters first_that_runs(const PlannedExperiment& planned);

/// Explains the first of the points that the emulator can run, and says how to have each run again.
/// Throws Error, with the first one's reason, when none can; otherwise it is like explain().
reports::Explanation answer(const DevBox& box, const ExplainQuestion& question,
                            const PlannedExperiment& planned);

/// Returns "matmul", "mlp", "gpt2" and "ops".
std::vector<std::string> explained_workloads();

/// Returns the experiment of such a workload. Any other name is already that of an experiment.
std::string experiment_of_workload(const std::string& name);

}  // namespace howard::experiments
