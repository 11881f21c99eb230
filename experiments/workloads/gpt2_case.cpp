// SPDX-License-Identifier: Apache-2.0
#include "experiments/workloads/gpt2_case.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "experiments/workloads/axes.h"
#include "experiments/workloads/half_batches.h"
#include "experiments/workloads/known_time.h"
#include "experiments/workloads/mlp_case.h"

namespace howard::experiments {
models::Gpt2Options gpt2_options(std::int64_t batch, int layers, std::int64_t dim) {
  if (dim % kHeadColumns != 0) {
    throw Error({.attempted = "make GPT-2",
                 .value = fmt::format("of width {}", dim),
                 .accepted = "a multiple of 64, the columns of a head",
                 .hint = ""});
  }
  return {.batch = batch,
          .width = dim,
          .heads = static_cast<int>(dim / kHeadColumns),
          .feed_forward = 4 * dim,
          .layers = layers};
}

std::unique_ptr<harness::Case> gpt2_case(const DevBox& box, const TrainingOptions& training,
                                         models::Gpt2Options options) {
  options.as_published = training.as_published;
  options.fused = training.fused;
  const auto make = [&](Device& device) { return train_gpt2(device, options, training.products); };
  if (training.queues == 1) return std::make_unique<TrainingCase>(box, training, make);
  // A sequence is many tiles, so any even batch has two halves.
  if (options.batch % 2 != 0) {
    throw Error({.attempted = "halve the batch",
                 .value = fmt::format("{} sequences are no two equal halves", options.batch),
                 .accepted = "an even number",
                 .hint = ""});
  }
  options.batch /= 2;
  return half_batches(box, training, make);
}

PreparedCase prepare_gpt2(const DevBox& box, harness::Backend backend,
                          const harness::Parameters& parameters, std::int64_t dim) {
  if (auto reason = missing_cores(box.profiles().chip, parameters)) {
    return harness::NotApplicable{std::move(*reason)};
  }
  const std::int64_t batch = count_of(parameters, "batch");
  const auto layers = static_cast<int>(count_of(parameters, "layers"));
  const TrainingOptions training = training_options(backend, parameters);
  models::Gpt2Options options = gpt2_options(batch, layers, dim);
  const std::string_view engine = *harness::find_parameter(parameters, "engine");
  if (is_torch(engine)) {
    if (training.as_published) {
      return harness::NotApplicable{"PyTorch sums the gradients of weights: -a variant=corrected"};
    }
    return torch_case(
        box, {.model = TorchModel::gpt2,
              .batch = batch,
              .width = dim,
              .layers = layers,
              .numbers = parse_torch_numbers(*harness::find_parameter(parameters, "dtype")),
              .compiled = engine == kCompiledTorch});
  }
  const TrainingTypes types = training_types(backend, parameters);
  options.parameters = types.parameters;
  options.compute = types.compute;
  return gpt2_case(box, training, options);
}

harness::Axis gpt2_engine_axis(harness::Backend backend, std::string meaning,
                               std::vector<std::string> engines) {
  std::vector<std::string> words = engines;
  if (backend == harness::Backend::host) {
    engines.insert(engines.begin(), std::string(kTorch));
    words.insert(words.begin(), {std::string(kTorch), std::string(kCompiledTorch)});
    meaning += ", or PyTorch";
  }
  return harness::word_axis("engine", std::move(meaning), words, engines);
}

harness::Axis gpt2_batch_axis(harness::Backend backend) {
  const bool chip = backend == harness::Backend::emulated;
  return count_axis("batch", "sequences of 256 tokens", {chip ? "32" : "4"}, {chip ? "32" : "1"});
}

harness::Presentation gpt2_presentation(std::string title, const std::vector<std::string>& axes,
                                        std::vector<std::string> bars) {
  using harness::CellSource;
  std::vector<harness::Column> columns;
  for (const std::string& axis : axes) columns.push_back({axis, CellSource::parameter, axis});
  const std::vector<harness::Column> step{
      {"time", CellSource::metric, "time"},
      known_to_column(),
      {"published", CellSource::reference, ""},
      {"error", CellSource::error, ""},
      {"rate", CellSource::metric, "throughput"},
      {"of peak", CellSource::metric, "share_of_peak", harness::Room::spare,
       "the rate over that of all compute cores at HiFi2"},
      {"calls", CellSource::detail, "calls"},
      {"launches", CellSource::detail, "launches"},
      {"host", CellSource::metric, "host_time"},
      {"bound by", CellSource::detail, "bound_by"},
      {"kernel time by kind (launches, longest stage)", CellSource::detail, "kernels"},
      {"loss", CellSource::detail, "loss"}};
  columns.insert(columns.end(), step.begin(), step.end());
  return {.timed = kStepTimed,
          .timed_on_host = kStepTimedOnHost,
          .columns = std::move(columns),
          .plots = {},
          .bar_charts = {{.title = std::move(title),
                          .label = "time",
                          .metric = "time",
                          .bars = std::move(bars),
                          .parts = kKernelTimes,
                          .rest = "between kernels"}}};
}

}  // namespace howard::experiments
