// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/mlp_case.h"

#include "experiments/axes/axes.h"
#include "experiments/cases/half_batches.h"
#include "experiments/cases/training_case.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {

std::unique_ptr<harness::Case> mlp_case(const DevBox& box, harness::Backend backend,
                                        const Point& point) {
  const TrainingOptions training = training_options(backend, point);
  const TrainingTypes types = training_types(backend, point);
  models::MlpOptions options{.batch = point[kBatch],
                             .width = point[kDim],
                             .layers = static_cast<int>(point[kLayers]),
                             .parameters = types.parameters,
                             .compute = types.compute};
  auto functions = models::MlpFunctions::by_layer;
  if (training.engine == Engine::dynamic && training.as_published) {
    functions = models::MlpFunctions::by_op;
  }
  if (training.fused) functions = models::MlpFunctions::by_fused_layer;
  if (training.queues == 2) options.batch = half_of(options.batch);
  const auto make = [&](Device& device) {
    return train_mlp(device, options, functions, training.products);
  };
  if (training.queues == 2) return half_batches(box, training, make);
  return std::make_unique<TrainingCase>(box, training, make);
}

std::vector<harness::WhatIf> mlp_what_ifs(const DevBox& box, const Point& point) {
  std::vector<harness::WhatIf> changes = training_what_ifs(box, point);
  changes.push_back(pad_count(point, kBatch));
  changes.push_back(pad_count(point, kDim));
  return changes;
}

}  // namespace howard::experiments
