// SPDX-License-Identifier: Apache-2.0
#include "experiments/all.h"

namespace howard::experiments {

ExperimentList all_experiments(const std::shared_ptr<const DevBox>& box) {
  ExperimentList list;
  list.push_back(matmul_sweep(box));
  list.push_back(core_grid(box));
  list.push_back(two_queues(box));
  return list;
}

}  // namespace howard::experiments
