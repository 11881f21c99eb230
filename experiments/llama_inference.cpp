// SPDX-License-Identifier: Apache-2.0
//
// Question: how many tokens a second does a Llama write for one user on one chip, and what does a
// token wait for?
//
// A token costs one row of every product, so all weights are read for it and hardly anything is
// computed, and it makes as many calls as a forward pass. TTML's llama_inference pads the row to a
// tile, writes keys and values into a cache by copying, takes them from it again and repeats them
// for their heads; its calls differ from token to token, so that they cannot be replayed. ttnn's
// kernels for decoding write a row into the cache and look up to a place that lies on the device:
// these calls can be recorded and replayed. Their costs follow from the mechanisms of attention and
// of layout conversions; no measurement of them is known. They are timed for a full cache.
//
// Timing: the mean of 3 tokens after 1 warm-up token, all behind `context` others. The time of a
// token includes writing its inputs and a blocking read of its logits. The prompt (`prefill`) has
// `context` tokens.

#include <utility>

#include "engines/models/cached_llama.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/cases/llama_sizes.h"
#include "experiments/cases/training_case.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::NotApplicable;

struct Inference {
  Inference(Device& device, const models::ModelOptions& sizes, const models::CacheOptions& options)
      : model(device, sizes), cached(device, model, options) {}

  models::Llama model;
  models::CachedLlama cached;
};

const WordAxis kInferenceModel("model");
const auto kCacheCalls = choice_axis<models::CacheCalls>(
    "calls", "TTML's, or ttnn's kernels for decoding",
    {{"ttml", models::CacheCalls::ttml}, {"kernels", models::CacheCalls::kernels}});
const auto kContext = count_axis("context", "tokens before the one that is timed");

models::ModelOptions inference_sizes(const Point& point) {
  models::ModelOptions sizes = llama_sizes_of(point[kInferenceModel]);
  const std::int64_t context = point[kContext];
  sizes.sequence =
      (context / kTileSide + 1) * kTileSide;  // there is room for the token behind them
  return sizes;
}

/// Returns the seconds for a prompt of `context` tokens, once its programs are known.
SimTime prefill_time(const DevBox& box, const TrainingOptions& training,
                     const models::ModelOptions& sizes, const models::CacheOptions& options,
                     std::int64_t context) {
  const auto chip = box.open_chip({.dispatch = training.dispatch});
  Inference inference(*chip, sizes, options);
  const std::vector<std::uint32_t> prompt(static_cast<std::size_t>(context), 1);
  SimTime start;
  for (int i = 0; i < 2; ++i) {
    start = chip->now();
    inference.cached.prefill(prompt);
    static_cast<void>(inference.cached.logits());
  }
  return chip->now() - start;
}

/// Times a token behind `context` others.
class InferenceCase final : public harness::Case {
 public:
  InferenceCase(const DevBox& box, const TrainingOptions& training,
                const models::ModelOptions& sizes, const models::CacheOptions& options,
                std::int64_t context)
      : prefill_(prefill_time(box, training, sizes, options, context)),
        context_(context),
        case_(box, training, [&](Device& device) {
          auto made = std::make_shared<Inference>(device, sizes, options);
          inference_ = made.get();
          write();
          return Training{.step = made->cached.decode_function(),
                          .parameters = made->model.parameters(),
                          .model = made};
        }) {}

  void run() override {
    write();
    case_.run();
  }
  void finish() override { case_.finish(); }
  SimTime now() const override { return case_.now(); }
  void set_trace_sink(EventSink* sink) override { case_.set_trace_sink(sink); }

  void describe(double seconds, harness::PointResult& point) const override {
    case_.describe(seconds, point);
    point.metrics.push_back(
        {.name = "tokens", .value = 1 / seconds, .unit = "1/s", .better = harness::Better::higher});
    point.metrics.push_back(
        {.name = "prefill", .value = prefill_.seconds(), .unit = "s", .virtual_time = prefill_});
    point.metrics.push_back({.name = "cache",
                             .value = static_cast<double>(inference_->cached.cache_bytes().value()),
                             .unit = "B"});
  }

 private:
  void write() {
    inference_->cached.skip_to(context_);
    inference_->cached.write_decode(1);
  }

  SimTime prefill_;
  std::int64_t context_;
  Inference* inference_ = nullptr;  ///< It belongs to the case, as its device does.
  TrainingCase case_;
};

harness::Presentation inference_presentation() {
  using harness::CellSource;
  return {
      .timed = "a token, its logits read",
      .columns = {{"model", CellSource::parameter, "model"},
                  {"calls", CellSource::parameter, "calls"},
                  {"engine", CellSource::parameter, "engine"},
                  {"context", CellSource::parameter, "context"},
                  {"dispatch", CellSource::parameter, "dispatch"},
                  {"token", CellSource::metric, "time"},
                  expected_error_column(),
                  {"rate", CellSource::metric, "tokens", harness::Room::key, "tokens a second"},
                  {"prefill", CellSource::metric, "prefill"},
                  {"cache", CellSource::metric, "cache"},
                  {"launches", CellSource::detail, "launches"},
                  {"host", CellSource::metric, "host_time"},
                  {"bound by", CellSource::detail, "bound_by"},
                  {"kernel time by kind (launches, longest stage)", CellSource::detail, "kernels"}},
      .bar_charts = {{.title = "A token of a Llama",
                      .label = "time",
                      .metric = "time",
                      .bars = {"model", "calls", "engine", "context"},
                      .parts = kKernelTimes,
                      .rest = "between kernels"}}};
}

}  // namespace

/// There is no host: `run_experiment generate` times a Llama there.
Experiment llama_inference(const Box& box) {
  return {.name = "llama_inference",
          .question = "How fast do TTML's Llama models read a prompt and write tokens on one chip?",
          .axes = {kInferenceModel.of("of TTML's configuration files",
                                      {"nanollama3", "tinyllama", "llama3_2_1b"},
                                      {"nanollama3", "tinyllama", "llama3_2_1b"}, {"nanollama3"}),
                   kCacheCalls.with(kCacheCalls.choices),
                   kEngine.of("who makes the calls", {"dynamic", "static", "traced"},
                              {"dynamic", "static", "traced"}, {"dynamic", "traced"}),
                   kContext.with({"128", "2000"}, {"128"}), kDispatch.with({"worker"})},
          .timing = {.warmup = 1, .iterations = 3},
          .presentation = inference_presentation(),
          .prepare = [=](Backend backend, const Point& point) -> Prepared {
            TrainingOptions training = training_options(backend, point);
            training.as_published = false;
            training.reads_loss = true;
            const models::CacheOptions options{.length = point[kContext] + 1,
                                               .calls = point[kCacheCalls]};
            if (options.calls == models::CacheCalls::ttml && training.engine != Engine::dynamic) {
              return NotApplicable{"TTML's calls differ from token to token: -a calls=kernels"};
            }
            return std::make_unique<InferenceCase>(*box, training, inference_sizes(point), options,
                                                   point[kContext]);
          },
          .what_ifs = [](const Point& point) -> std::vector<harness::WhatIf> {
            return {eth_dispatch(point)};
          }};
}

}  // namespace howard::experiments
