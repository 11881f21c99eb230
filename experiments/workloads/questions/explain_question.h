// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "experiments/all.h"
#include "harness/experiment.h"
#include "reports/findings/explanation.h"

namespace howard::experiments {

/// Holds what is to be explained, as a user says it.
struct ExplainQuestion {
  /// "matmul", "mlp", "gpt2", "ops", or an experiment; empty for a product, whose sizes the axes
  /// give.
  std::string what;
  std::vector<std::string> axes;  ///< "AXIS=VALUE"; m, k and n are the sizes of a product.
  chip::ProfileChoice profiles;
};

/// Holds an experiment and the points of it that are meant. There is one point, unless nobody set
/// some axes.
struct PlannedExplanation {
  const harness::Experiment* experiment = nullptr;
  std::vector<harness::PointResult> points;
};

/// Returns what the question means. Throws Error for a question that is not understood, with a
/// suggestion, and for an experiment that times nothing on the emulator.
PlannedExplanation plan_explanation(const ExplainQuestion& question, const ExperimentList& list);

/// Returns the point of one experiment that the question's axes mean.
PlannedExplanation plan_explanation(const ExplainQuestion& question,
                                    const harness::Experiment& experiment);

/// Explains the first of the points that the emulator can run, and says how to have each run again.
/// Throws Error, with the first one's reason, when none can; otherwise it is like explain().
reports::Explanation answer(const DevBox& box, const ExplainQuestion& question,
                            const PlannedExplanation& planned);

/// Returns "matmul", "mlp", "gpt2" and "ops".
std::vector<std::string> explained_workloads();

/// Returns the experiment of such a workload. Any other name is already that of an experiment.
std::string experiment_of_workload(const std::string& name);

}  // namespace howard::experiments
