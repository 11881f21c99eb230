// SPDX-License-Identifier: Apache-2.0
#include "experiments/laboratory/experiment_list.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "engines/chip/profiles/profile.h"
#include "experiments/laboratory/devbox.h"

namespace howard::experiments {

namespace {

/// These are the questions of the report that the emulator answers, in its order.
constexpr std::array<ExperimentMaker, 15> kMakers{
    &matmul_sweep, &mlp_engines,    &shape_sweep,     &mlp_depth,  &gpt2_full,
    &gpt2_trace,   &llama_step,     &llama_inference, &core_grid,  &dispatch_gaps,
    &two_queues,   &dispatch_cores, &multi_device,    &all_reduce, &parallel};

}  // namespace

ExperimentMaker maker_of(std::string_view name, const std::shared_ptr<const DevBox>& box) {
  const auto found = std::ranges::find_if(
      kMakers, [&](ExperimentMaker maker) { return maker(box)->name() == name; });
  HOWARD_CHECK(found != kMakers.end(), "the experiment is one that the emulator answers");
  return *found;
}

ExperimentList emulated_experiments(const std::shared_ptr<const DevBox>& box) {
  ExperimentList list;
  for (const ExperimentMaker maker : kMakers) list.push_back(maker(box));
  return list;
}

ExperimentList all_experiments(const std::shared_ptr<const DevBox>& box,
                               const chip::ProfileChoice& choice) {
  ExperimentList list = emulated_experiments(box);
  list.push_back(fidelity(list, chip::are_published(box->profiles())));
  list.push_back(gradient_check(box));
  list.push_back(calibrate(choice));
  list.push_back(op_list(box));
  list.push_back(workload_runs(box, choice));
  return list;
}

}  // namespace howard::experiments
