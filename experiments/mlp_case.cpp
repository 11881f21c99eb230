// SPDX-License-Identifier: Apache-2.0
#include "experiments/mlp_case.h"

#include "base/text.h"
#include "experiments/axes.h"

namespace howard::experiments {

std::string_view parameter_or(const harness::Parameters& parameters, std::string_view axis,
                              std::string_view otherwise) {
  return harness::find_parameter(parameters, axis).value_or(otherwise);
}

TrainingOptions training_options(harness::Backend backend, const harness::Parameters& parameters) {
  const std::string_view engine = parameter_or(parameters, "engine", "dynamic");
  return {.backend = backend,
          .dispatch = parse_dispatch(parameter_or(parameters, "dispatch", "worker")),
          .engine = parse_engine(engine),
          .as_published = parameter_or(parameters, "variant", "as_published") == "as_published",
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
  const models::MlpOptions options{
      .batch = count_of(parameters, "batch"),
      .width = count_of(parameters, "dim"),
      .layers = static_cast<int>(*parse_integer(parameter_or(parameters, "layers", "2"))),
      .parameters = types.parameters,
      .compute = types.compute};
  const bool by_op = training.engine == Engine::dynamic && training.as_published;
  const auto functions = by_op ? models::MlpFunctions::by_op : models::MlpFunctions::by_layer;
  return std::make_unique<TrainingCase>(
      box, training, [&](Device& device) { return train_mlp(device, options, functions); });
}

}  // namespace howard::experiments
