// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a sum over several chips take, which each gradient of a data-parallel
// training needs (multi_device)?
//
// tt-metal publishes times of its all_reduce on lines of Wormhole chips. Here an all_reduce is a
// reduce_scatter and an all_gather, whose starts and steps come from tt-metal's formulas for a line
// of eight and whose rates come from its largest buffers; no constant is of an all_reduce, and the
// times of small buffers are predicted. Sets of chips in both meshes, which share no
// link, are summed through the host (gradient_exchange.h).
//
// Timing: nothing is timed; the time is the closed form of one sum.

#include "experiments/experiment.h"
#include "experiments/meshes/chip_mesh.h"
#include "experiments/meshes/gradient_exchange.h"

namespace howard::experiments {

using harness::CellSource;

Experiment all_reduce(const Box& box) {
  const auto kib = count_axis("kib", "size of the buffer, in KiB");
  return {
      .name = "all_reduce",
      .question = "How long does a sum over several chips take, beside published times?",
      .axes = {kDevices.with({"0+4", "0+1+4+5"}, {"0+4"}),
               kib.with({"64", "1024", "16384"}, {"1024"})},
      .presentation = {.timed = "one sum",
                       .columns = {{"devices", CellSource::parameter, "devices"},
                                   {"KiB", CellSource::parameter, "kib"},
                                   {"time", CellSource::metric, "time"},
                                   {"published", CellSource::reference, ""},
                                   {"error", CellSource::error, ""},
                                   {"rate of a link", CellSource::metric, "link_rate"}},
                       .plots = {{.title = "A sum over several chips",
                                  .x_label = "size of the buffer",
                                  .y_label = "time",
                                  .x = "size",
                                  .y = "time",
                                  .series = {"devices"}}}},
      .prepare = [=](harness::Backend, const Point& point) -> Prepared {
        const ChipSet chips = point[kDevices];
        const Bytes size(1024 * point[kib]);
        if (chips.size() == 1) return harness::NotApplicable{"one chip has nothing to sum"};
        return finding([=](harness::PointResult& found) {
          const SimTime time = sum_time(box->profiles(), chips, size);
          const auto count = static_cast<double>(chips.size());
          const auto bytes = static_cast<double>(size.value());
          found.metrics = {exact_time("time", time), {.name = "size", .value = bytes, .unit = "B"}};
          if (time == SimTime()) return;  // if the constants are set to nothing
          found.metrics.push_back({.name = "link_rate",
                                   .value = 2 * (count - 1) / count * bytes / time.seconds(),
                                   .unit = "B/s",
                                   .better = harness::Better::higher});
        });
      }};
}

}  // namespace howard::experiments
