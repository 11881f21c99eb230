// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/gpt2_case.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "experiments/axes/axes.h"
#include "experiments/cases/half_batches.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/cases/training_case.h"
#include "experiments/laboratory/devbox.h"

namespace howard::experiments {
namespace {

const auto kSequence = count_axis("sequence", "tokens of a sequence; not set: 256", "256");
const auto kHeadCount =
    count_axis("heads", "heads of attention; not set: one for 64 columns of the width");
const auto kFeedForward =
    count_axis("ffn", "width of the feed-forward part; not set: 4 times that of the model");

}  // namespace

const TypedAxis<std::int64_t> kGpt2Width = count_axis("dim", "width", "384");
const TypedAxis<std::int64_t> kVocabulary =
    count_axis("vocabulary", "tokens that there are; not set: 256, of TTML 96");

models::Gpt2Options gpt2_options(std::int64_t batch, int layers, std::int64_t dim) {
  if (dim % kHeadColumns != 0) {
    throw Error({.attempted = "make GPT-2",
                 .value = fmt::format("of width {}", dim),
                 .accepted = "a multiple of 64, the columns of a head"});
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
                 .accepted = "an even number"});
  }
  options.batch /= 2;
  return half_batches(box, training, make);
}

PreparedCase prepare_gpt2(const DevBox& box, harness::Backend backend, const Point& point) {
  if (auto reason = missing_cores(box.profiles().chip, point)) {
    return harness::NotApplicable{std::move(*reason)};
  }
  const TrainingOptions training = training_options(backend, point);
  models::Gpt2Options options = gpt2_sizes(point);
  const Engine engine = point[kEngine];
  if (is_torch(engine)) {
    if (training.as_published) {
      return harness::NotApplicable{"PyTorch sums the gradients of weights: -a variant=corrected"};
    }
    for (const auto* const axis : {&kSequence, &kHeadCount, &kFeedForward, &kVocabulary}) {
      if (!point.has(*axis)) continue;
      return harness::NotApplicable{
          fmt::format("PyTorch's GPT-2 has the report's {0} here: leave out -a {0}=", axis->name)};
    }
    return torch_case(box, {.model = TorchModel::gpt2,
                            .batch = options.batch,
                            .width = options.width,
                            .layers = options.layers,
                            .numbers = torch_numbers(point[kTrainingTypes]),
                            .compiled = engine == Engine::torch_compiled});
  }
  const TrainingTypes types = training_types(backend, point);
  options.parameters = types.parameters;
  options.compute = types.compute;
  return gpt2_case(box, training, options);
}

void add_gpt2_sizes(std::vector<harness::Axis>& axes) {
  for (const auto* const axis : {&kSequence, &kHeadCount, &kFeedForward, &kVocabulary}) {
    axes.push_back(axis->optional());
  }
}

models::Gpt2Options gpt2_sizes(const Point& point) {
  const std::int64_t dim = point[kGpt2Width];
  const auto layers = static_cast<int>(point[kLayers]);
  models::Gpt2Options options{
      .batch = point[kBatch],
      .sequence = point[kSequence],
      .width = dim,
      .feed_forward = point.get(kFeedForward, 4 * dim),
      .vocabulary = point.get(kVocabulary, models::Gpt2Options().vocabulary),
      .layers = layers};
  if (!point.has(kHeadCount)) {
    options.heads = gpt2_options(options.batch, layers, dim).heads;
    return options;
  }
  options.heads = static_cast<int>(point[kHeadCount]);
  if (dim % options.heads != 0) {
    throw Error({.attempted = "make GPT-2",
                 .value = fmt::format("{} heads of a width of {}", options.heads, dim),
                 .accepted = "heads that divide the width"});
  }
  return options;
}

harness::Axis gpt2_engine_axis(harness::Backend backend, std::string meaning,
                               std::vector<std::string> engines) {
  std::vector<std::string> words = engines;
  if (backend == harness::Backend::host) {
    const std::string torch = kEngine.print(Engine::torch);
    engines.insert(engines.begin(), torch);
    words.insert(words.begin(), {torch, kEngine.print(Engine::torch_compiled)});
    meaning += ", or PyTorch";
  }
  return kEngine.of(std::move(meaning), words, engines);
}

harness::Axis gpt2_batch_axis(harness::Backend backend) {
  const bool chip = backend == harness::Backend::emulated;
  return kBatch.means("sequences of 256 tokens").with({chip ? "32" : "4"}, {chip ? "32" : "1"});
}

harness::Presentation gpt2_presentation(std::string title, const std::vector<std::string>& axes,
                                        std::vector<std::string> bars,
                                        const harness::VirtualTiming& timing) {
  using harness::CellSource;
  std::vector<harness::Column> columns;
  for (const std::string& axis : axes) columns.push_back({axis, CellSource::parameter, axis});
  const std::vector<harness::Column> step{
      {"time", CellSource::metric, "time"},
      expected_error_column(),
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
  return {.timed = step_timed(timing),
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
