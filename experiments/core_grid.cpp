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

#include "experiments/cases/emulated_case.h"
#include "experiments/cases/four_networks.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::CellSource;
using harness::find_parameter;
using harness::Parameters;
using harness::PointResult;

const auto kPlacement =
    choice_axis<CoreParts>("layout", "all cores for each, the published parts, or real parts",
                           {{"full_grid", CoreParts::full_grid},
                            {"partitioned", CoreParts::partitioned},
                            {"disjoint", CoreParts::disjoint}});
class CoreGridCase final : public EmulatedCase {
 public:
  CoreGridCase(const DevBox& box, const Point& point)
      : EmulatedCase(box.open_chip()), networks_(device(), point[kPlacement]) {
    if (point[kTrace]) trace_ = networks_.capture();
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

}  // namespace

Experiment core_grid(const Box& box) {
  return {
      .name = "core_grid",
      .question = "Do four networks run faster on parts of the cores than on all cores in turn?",
      .axes = {kPlacement.with(kPlacement.choices),
               kTrace.means("replay of a trace, or call by call").with({"yes", "no"})},
      .timing = {.warmup = 5, .iterations = 10},
      .presentation = {.timed = "a pass of each network and a finish",
                       .columns = {{"layout", CellSource::parameter, "layout"},
                                   {"trace", CellSource::parameter, "trace"},
                                   {"time", CellSource::metric, "time"},
                                   {"rate", CellSource::metric, "throughput"},
                                   {"published", CellSource::reference, ""},
                                   {"error", CellSource::error, ""}},
                       .bar_charts = {{.title = "Four networks",
                                       .label = "time",
                                       .metric = "time",
                                       .bars = {"layout", "trace"}}}},
      .prepare = [=](Backend, const Point& point) -> Prepared {
        return std::make_unique<CoreGridCase>(*box, point);
      },
      .what_ifs =
          [=](const Point& point) {
            std::vector<harness::WhatIf> changes{
                set_axis("trace", point, kTrace, true, "it is a replay already")};
            add_other_choices(point, kPlacement, changes);
            return changes;
          }};
}

}  // namespace howard::experiments
