// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "harness/experiment.h"

namespace howard::chip {
struct ProfileChoice;
}

namespace howard::experiments {

class DevBox;

using ExperimentList = std::vector<std::unique_ptr<harness::Experiment>>;

/// Holds an experiment and the points that it is to run.
struct PlannedExperiment {
  const harness::Experiment* experiment = nullptr;
  std::vector<harness::PointResult> points;
};

std::unique_ptr<harness::Experiment> matmul_sweep(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> mlp_engines(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> shape_sweep(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> mlp_depth(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> gpt2_full(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> gpt2_trace(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> llama_step(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> llama_inference(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> core_grid(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> dispatch_gaps(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> two_queues(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> dispatch_cores(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> op_list(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> multi_device(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> workload_runs(std::shared_ptr<const DevBox> box,
                                                   const chip::ProfileChoice& choice);
std::unique_ptr<harness::Experiment> all_reduce(std::shared_ptr<const DevBox> box);
std::unique_ptr<harness::Experiment> parallel(std::shared_ptr<const DevBox> box);

/// Calibrates the profiles of `choice`. Throws Error if they cannot be read.
std::unique_ptr<harness::Experiment> calibrate(const chip::ProfileChoice& choice);

std::unique_ptr<harness::Experiment> gradient_check(std::shared_ptr<const DevBox> box);

/// Shows the published rows of `experiments` beside the emulator. `experiments` must outlive it.
/// `published_chip` says whether they run on the chip and software of the rows; if not, nothing can
/// be compared.
std::unique_ptr<harness::Experiment> fidelity(const ExperimentList& experiments,
                                              bool published_chip);

/// Makes one experiment on a box.
using ExperimentMaker = std::unique_ptr<harness::Experiment> (*)(std::shared_ptr<const DevBox>);

/// Returns the maker of the experiment of that name, which must be one of emulated_experiments().
ExperimentMaker maker_of(std::string_view name, const std::shared_ptr<const DevBox>& box);

/// Returns the questions that the emulator answers, in the order of the report.
ExperimentList emulated_experiments(const std::shared_ptr<const DevBox>& box);

/// Returns every experiment, in the order of the report. The box was made from `choice`. A new
/// experiment is one file and one line here.
ExperimentList all_experiments(const std::shared_ptr<const DevBox>& box,
                               const chip::ProfileChoice& choice);

}  // namespace howard::experiments
