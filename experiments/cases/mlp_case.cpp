// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/mlp_case.h"

#include "base/text.h"
#include "experiments/axes/axes.h"
#include "experiments/cases/half_batches.h"
#include "experiments/cases/training_case.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {

namespace {

/// With a core grid ttnn takes LoFi if nobody asks for HiFi2, which is its choice without a grid.
MatmulAttributes products_of(const harness::Parameters& parameters) {
  const auto grid = parse_grid(parameter_or(parameters, "grid", "default"));
  const auto config = config_of(parameters);
  if (!grid && !config) return {};
  return {.core_grid = grid, .compute = {.fidelity = MathFidelity::hifi2}, .config = config};
}

}  // namespace

TrainingOptions training_options(harness::Backend backend, const harness::Parameters& parameters) {
  const std::string_view engine = parameter_or(parameters, "engine", "dynamic");
  return {.backend = backend,
          .dispatch = parse_dispatch(parameter_or(parameters, "dispatch", "worker")),
          .engine = parse_engine(engine),
          .as_published = parameter_or(parameters, "variant", "as_published") == "as_published",
          .products = products_of(parameters),
          .fused = parameter_or(parameters, "fused", "no") == "yes",
          .queues = parameter_or(parameters, "queues", "1") == "2" ? 2 : 1,
          .fuses_traces = engine == "traced_fused"};
}

TrainingTypes training_types(harness::Backend backend, const harness::Parameters& parameters) {
  const bool chip = backend == harness::Backend::emulated;
  return parse_training_types(parameter_or(parameters, "dtype", chip ? "pure_bf16" : "bfloat16"));
}

std::unique_ptr<harness::Case> mlp_case(const DevBox& box, harness::Backend backend,
                                        const harness::Parameters& parameters) {
  const TrainingOptions training = training_options(backend, parameters);
  const TrainingTypes types = training_types(backend, parameters);
  models::MlpOptions options{
      .batch = count_of(parameters, "batch"),
      .width = count_of(parameters, "dim"),
      .layers = static_cast<int>(*parse_integer(parameter_or(parameters, "layers", "2"))),
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

std::vector<harness::WhatIf> mlp_what_ifs(const DevBox& box,
                                          const harness::Parameters& parameters) {
  std::vector<harness::WhatIf> changes = training_what_ifs(box, parameters);
  changes.push_back(pad_count(parameters, "batch"));
  changes.push_back(pad_count(parameters, "dim"));
  return changes;
}

}  // namespace howard::experiments
