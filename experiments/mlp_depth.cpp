// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a layer of an MLP cost, by depth and width?
//
// The report has a benchmark of this (bench_mlp) but no table. A layer is 12 calls of a step, so a
// replay's time grows with depth in proportion, whatever bounds a layer: launches at width 256,
// kernels at 2048. `layer_time` is the step's time divided by its layers.
//
// Timing: batch 1024, traced. 5 replays warm up and 20 are timed, with one finish at the end; the
// result is the mean.

#include <utility>

#include "experiments/cases/kernel_account.h"
#include "experiments/cases/mlp_case.h"
#include "experiments/cases/training_case.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"
#include "harness/wrapped_case.h"

namespace howard::experiments {
namespace {

constexpr harness::VirtualTiming kDepthTiming{.warmup = 5, .iterations = 20};

using harness::Backend;
using harness::CellSource;

class DepthCase final : public harness::WrappedCase {
 public:
  DepthCase(const DevBox& box, Backend backend, const Point& point)
      : WrappedCase(mlp_case(box, backend, point)), layers_(point[kLayers]) {}

  void describe(double seconds, harness::PointResult& point) const override {
    WrappedCase::describe(seconds, point);
    const auto layers = static_cast<double>(layers_);
    point.metrics.push_back({.name = "depth", .value = layers, .unit = "layers"});
    point.metrics.push_back({.name = "layer_time", .value = seconds / layers, .unit = "s"});
  }

 private:
  std::int64_t layers_;
};

harness::Presentation depth_presentation() {
  return {.timed = step_timed(kDepthTiming),
          .timed_on_host = kStepTimedOnHost,
          .columns = {{"layers", CellSource::parameter, "layers"},
                      {"dim", CellSource::parameter, "dim"},
                      {"batch", CellSource::parameter, "batch"},
                      {"engine", CellSource::parameter, "engine"},
                      {"time", CellSource::metric, "time"},
                      expected_error_column(),
                      {"a layer", CellSource::metric, "layer_time"},
                      {"rate", CellSource::metric, "throughput"},
                      {"launches", CellSource::detail, "launches"},
                      {"bound by", CellSource::detail, "bound_by"},
                      {"loss", CellSource::detail, "loss"}},
          .plots = {{.title = "A training step of an MLP by depth",
                     .x_label = "layers",
                     .y_label = "time",
                     .x = "depth",
                     .y = "time",
                     .series = {"dim", "engine"}}},
          .heat_maps = {{.title = "A layer of an MLP's training step",
                         .x_label = "dim: width of all layers",
                         .y_label = "layers",
                         .x = "dim",
                         .y = "layers",
                         .metric = "layer_time",
                         .label = "time of a layer"}}};
}

}  // namespace

Experiment mlp_depth(const Box& box) {
  const auto axes_on = [](Backend backend) {
    const bool emulated = backend == Backend::emulated;
    using Values = std::vector<std::string>;
    const Values batch = emulated ? Values{"1024"} : Values{"256"};
    std::vector<harness::Axis> axes{
        kLayers.with(emulated ? Values{"2", "4", "8", "16"} : Values{"2", "4", "8"}, {"2", "16"}),
        kDim.with(emulated ? Values{"256", "512", "1024", "2048"} : Values{"256", "512"}, {"256"}),
        kBatch.with(batch),
        kEngine.of("the C++ engine that makes the calls of a step", {"dynamic", "static", "traced"},
                   {"traced"}),
        kVariant.with({"corrected"})};
    add_training_axes(axes, backend, {"worker"});
    return axes;
  };
  return {.name = "mlp_depth",
          .question = "What does a layer cost in a training step of an MLP, by depth and width?",
          .axes = axes_on(Backend::emulated),
          .host_axes = axes_on(Backend::host),
          .timing = kDepthTiming,
          .presentation = depth_presentation(),
          .prepare = [=](Backend backend, const Point& point) -> Prepared {
            if (auto reason = missing_cores(box->profiles().chip, point)) {
              return harness::NotApplicable{std::move(*reason)};
            }
            return std::make_unique<DepthCase>(*box, backend, point);
          },
          .what_ifs = [=](const Point& point) { return mlp_what_ifs(*box, point); }};
}

}  // namespace howard::experiments
