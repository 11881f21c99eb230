// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/mlp_case.h"

#include "experiments/axes/axes.h"
#include "experiments/cases/half_batches.h"
#include "experiments/cases/training_case.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {

namespace {

/// With a core grid ttnn takes LoFi if nobody asks for HiFi2, which is its choice without a grid.
MatmulAttributes products_of(const Point& point) {
  const auto grid = point[kGrid];
  const auto config = point[kConfig];
  if (!grid && !config) return {};
  return {.core_grid = grid, .compute = {.fidelity = MathFidelity::hifi2}, .config = config};
}

/// Returns which of the three ways to make calls an engine has.
Engine calls_of(Engine engine) {
  if (engine == Engine::traced_fused) return Engine::traced;
  const bool keeps = engine == Engine::static_step || engine == Engine::traced;
  return keeps ? engine : Engine::dynamic;
}

}  // namespace

TrainingOptions training_options(harness::Backend backend, const Point& point) {
  const Engine engine = point[kEngine];
  return {.backend = backend,
          .dispatch = point[kDispatch],
          .engine = calls_of(engine),
          .as_published = point[kVariant] == Variant::as_published,
          .products = products_of(point),
          .fused = point[kFused],
          .queues = point[kQueues],
          .fuses_traces = engine == Engine::traced_fused};
}

TrainingTypes training_types(harness::Backend backend, const Point& point) {
  const bool chip = backend == harness::Backend::emulated;
  return point.get(kTrainingTypes,
                   {chip ? DataType::bfloat16 : DataType::float32, DataType::bfloat16});
}

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
