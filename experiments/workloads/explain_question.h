// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "experiments/all.h"
#include "harness/experiment.h"
#include "reports/findings/explanation.h"

namespace howard::experiments {

/// What is to be explained, as a user says it.
struct ExplainQuestion {
  /// "matmul", "mlp", "gpt2", "ops", or an experiment; empty: a product, whose sizes the axes give.
  std::string what;
  std::vector<std::string> axes;  ///< "AXIS=VALUE"; m, k and n are the sizes of a product.
  wormhole::ProfileChoice profiles;
};

/// An experiment, and the points of it that are meant: one, but for axes that nobody set.
struct PlannedExplanation {
  const harness::Experiment* experiment = nullptr;
  std::vector<harness::PointResult> points;
};

/// What of `list` the question means. Error for one that is not understood, with a suggestion, and
/// for an experiment that times nothing on the emulator.
PlannedExplanation plan_explanation(const ExplainQuestion& question, const ExperimentList& list);

/// The point of one experiment that the question's axes mean. Error as above.
PlannedExplanation plan_explanation(const ExplainQuestion& question,
                                    const harness::Experiment& experiment);

/// Explains the first of the points that the emulator can run, and says how to have each run again.
/// Error, with the first one's reason, when none can; else as explain().
reports::Explanation answer(const DevBox& box, const ExplainQuestion& question,
                            const PlannedExplanation& planned);

/// "matmul", "mlp", "gpt2", "ops".
std::vector<std::string> explained_workloads();

/// The experiment of such a workload; another name is an experiment's already.
std::string experiment_of_workload(const std::string& name);

}  // namespace howard::experiments
