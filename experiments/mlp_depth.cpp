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

#include "experiments/axes/axes.h"
#include "experiments/cases/known_time.h"
#include "experiments/cases/mlp_case.h"
#include "experiments/cases/training_case.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/laboratory/experiment_list.h"
#include "experiments/questions/what_ifs.h"
#include "harness/wrapped_case.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::Parameters;

class DepthCase final : public harness::WrappedCase {
 public:
  DepthCase(const DevBox& box, Backend backend, const Parameters& parameters)
      : WrappedCase(mlp_case(box, backend, parameters)), layers_(count_of(parameters, "layers")) {}

  void describe(double seconds, harness::PointResult& point) const override {
    WrappedCase::describe(seconds, point);
    const auto layers = static_cast<double>(layers_);
    point.metrics.push_back({.name = "depth", .value = layers, .unit = "layers"});
    point.metrics.push_back({.name = "layer_time", .value = seconds / layers, .unit = "s"});
  }

 private:
  std::int64_t layers_;
};

class MlpDepth final : public harness::Experiment {
 public:
  explicit MlpDepth(std::shared_ptr<const DevBox> box) : box_(std::move(box)) {}

  std::string_view name() const override { return "mlp_depth"; }
  std::string_view question() const override {
    return "What does a layer cost in a training step of an MLP, by depth and width?";
  }

  std::vector<harness::Axis> axes(Backend backend) const override {
    const bool emulated = backend == Backend::emulated;
    using Values = std::vector<std::string>;
    std::vector<harness::Axis> axes{
        count_axis("layers", "linear layers",
                   emulated ? Values{"2", "4", "8", "16"} : Values{"2", "4", "8"}, {"2", "16"}),
        count_axis("dim", "width of all layers",
                   emulated ? Values{"256", "512", "1024", "2048"} : Values{"256", "512"}, {"256"}),
        count_axis("batch", "rows of the input", emulated ? Values{"1024"} : Values{"256"},
                   emulated ? Values{"1024"} : Values{"256"}),
        harness::word_axis("engine", "the C++ engine that makes the calls of a step",
                           {"dynamic", "static", "traced"}, {"traced"}),
        variant_axis("the calls and buffers of the released code, or the same for all engines",
                     {"corrected"})};
    add_training_axes(axes, backend, {"worker"});
    return axes;
  }

  std::vector<harness::WhatIf> what_ifs(const Parameters& parameters) const override {
    return mlp_what_ifs(*box_, parameters);
  }

  harness::VirtualTiming timing() const override { return {.warmup = 5, .iterations = 20}; }

  harness::Presentation presentation() const override {
    return {.timed = kStepTimed,
            .timed_on_host = kStepTimedOnHost,
            .columns = {{"layers", CellSource::parameter, "layers"},
                        {"dim", CellSource::parameter, "dim"},
                        {"batch", CellSource::parameter, "batch"},
                        {"engine", CellSource::parameter, "engine"},
                        {"time", CellSource::metric, "time"},
                        mean_error_column(),
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

  std::variant<std::unique_ptr<harness::Case>, harness::NotApplicable> prepare(
      Backend backend, const Parameters& parameters) const override {
    if (auto reason = missing_cores(box_->profiles().chip, parameters)) {
      return harness::NotApplicable{std::move(*reason)};
    }
    return std::make_unique<DepthCase>(*box_, backend, parameters);
  }

 private:
  std::shared_ptr<const DevBox> box_;
};

}  // namespace

std::unique_ptr<harness::Experiment> mlp_depth(std::shared_ptr<const DevBox> box) {
  return std::make_unique<MlpDepth>(std::move(box));
}

}  // namespace howard::experiments
