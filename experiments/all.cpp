// SPDX-License-Identifier: Apache-2.0
#include "experiments/all.h"

namespace howard::experiments {

ExperimentList emulated_experiments(const std::shared_ptr<const DevBox>& box) {
  ExperimentList list;
  list.push_back(matmul_sweep(box));
  list.push_back(mlp_engines(box));
  list.push_back(shape_sweep(box));
  list.push_back(mlp_depth(box));
  list.push_back(gpt2_full(box));
  list.push_back(gpt2_trace(box));
  list.push_back(core_grid(box));
  list.push_back(dispatch_gaps(box));
  list.push_back(two_queues(box));
  list.push_back(dispatch_cores(box));
  list.push_back(multi_device(box));
  list.push_back(all_reduce(box));
  return list;
}

ExperimentList all_experiments(const std::shared_ptr<const DevBox>& box,
                               const wormhole::ProfileChoice& choice) {
  ExperimentList list = emulated_experiments(box);
  list.push_back(fidelity(list, wormhole::are_published(box->profiles())));
  list.push_back(gradient_check(box));
  list.push_back(calibrate(choice));
  list.push_back(op_list(box));
  list.push_back(workload_runs(box));
  return list;
}

}  // namespace howard::experiments
