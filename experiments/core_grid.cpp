// SPDX-License-Identifier: Apache-2.0
//
// Question: do four independent networks run faster side by side, each on a part of the cores, than
// one after the other on all of them, on one command queue?
//
// The report (part 3, CoreGrid table) found 1.226 ms on the full grid against 1.814 ms partitioned.
// Its partitions have 2x4 cores each, so 24 of 56 cores are never used. And ttnn's core_grid is a
// size: the products of all four partitions run on the same 8 cores, at LoFi, while the full grid
// has HiFi2. Nothing runs side by side.
//
// `partitioned` runs what the report ran, and `disjoint` what its text says: each network has a
// sub-device of 2x7 cores, and HiFi2, so that programs of different networks can run at the same
// time on the one queue.
//
// Timing: an iteration is four forward passes of a 2-layer MLP, batch 512, width 1024 (24 calls:
// product with the transposed weight, bias, mask, relu, product, bias); traced, it is a replay. 5
// iterations warm up and 10 are timed, with a finish after each; the result is the mean.

#include <optional>
#include <utility>

#include "experiments/axes/axes.h"
#include "experiments/cases/emulated_case.h"
#include "experiments/cases/four_networks.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/laboratory/experiment_list.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::find_parameter;
using harness::Parameters;
using harness::PointResult;

class CoreGridCase final : public EmulatedCase {
 public:
  CoreGridCase(const DevBox& box, const Parameters& parameters)
      : EmulatedCase(box.open_chip()), networks_(device(), *find_parameter(parameters, "config")) {
    if (*find_parameter(parameters, "traced") == "yes") trace_ = networks_.capture();
  }

  void run() override {
    if (trace_) {
      queue().execute_trace(*trace_);
    } else {
      networks_.enqueue();
    }
    queue().finish();
  }
  void finish() override {}

  void describe(double seconds, PointResult& point) const override {
    point.metrics.push_back({.name = "throughput",
                             .value = FourNetworks::kFlops / seconds,
                             .unit = "FLOP/s",
                             .better = harness::Better::higher});
  }

 private:
  FourNetworks networks_;
  std::optional<TraceId> trace_;
};

class CoreGridExperiment final : public harness::Experiment {
 public:
  explicit CoreGridExperiment(std::shared_ptr<const DevBox> box) : box_(std::move(box)) {}

  std::string_view name() const override { return "core_grid"; }
  std::string_view question() const override {
    return "Do four networks run faster on parts of the cores than on all cores in turn?";
  }

  std::vector<harness::Axis> axes(Backend backend) const override {
    if (backend == Backend::host) return {};
    return {harness::word_axis("config", "all cores for each, the published parts, or real parts",
                               {"full_grid", "partitioned", "disjoint"},
                               {"full_grid", "partitioned", "disjoint"}),
            harness::word_axis("traced", "replay of a trace, or call by call", {"yes", "no"},
                               {"yes", "no"})};
  }

  std::vector<harness::WhatIf> what_ifs(const Parameters& parameters) const override {
    std::vector<harness::WhatIf> changes{
        set_axis("trace", parameters, "traced", "yes", "it is a replay already")};
    for (const char* const config : {"full_grid", "partitioned", "disjoint"}) {
      if (find_parameter(parameters, "config") == config) continue;
      changes.push_back({std::string("config ") + config, {{{"config", config}}}, ""});
    }
    return changes;
  }

  harness::VirtualTiming timing() const override { return {.warmup = 5, .iterations = 10}; }

  harness::Presentation presentation() const override {
    return {.timed = "a pass of each network and a finish",
            .columns = {{"config", CellSource::parameter, "config"},
                        {"traced", CellSource::parameter, "traced"},
                        {"time", CellSource::metric, "time"},
                        {"rate", CellSource::metric, "throughput"},
                        {"published", CellSource::reference, ""},
                        {"error", CellSource::error, ""}},
            .plots = {},
            .bar_charts = {{.title = "Four networks",
                            .label = "time",
                            .metric = "time",
                            .bars = {"config", "traced"}}}};
  }

  std::variant<std::unique_ptr<harness::Case>, harness::NotApplicable> prepare(
      Backend, const Parameters& parameters) const override {
    return std::make_unique<CoreGridCase>(*box_, parameters);
  }

 private:
  std::shared_ptr<const DevBox> box_;
};

}  // namespace

std::unique_ptr<harness::Experiment> core_grid(std::shared_ptr<const DevBox> box) {
  return std::make_unique<CoreGridExperiment>(std::move(box));
}

}  // namespace howard::experiments
