// SPDX-License-Identifier: Apache-2.0
#include "tests/reports/swept_result.h"

#include <fmt/format.h>

#include <algorithm>

namespace howard::reports::testing {

harness::PointResult swept_point(const std::string& size, double dram, double delay,
                                 double seconds) {
  return {.parameters = {{"dram", fmt::format("{}GB/s", dram)},
                         {"delay", fmt::format("{}us", delay)},
                         {"size", size}},
          .metrics = {{.name = "time", .value = seconds, .unit = "s"},
                      {.name = "rate",
                       .value = 1 / seconds,
                       .unit = "FLOP/s",
                       .better = harness::Better::higher}}};
}

harness::ExperimentResult swept_result() {
  harness::ExperimentResult result{.experiment = "sweep", .context = {}, .points = {}};
  for (const double dram : {1.0, 2.0, 4.0, 8.0}) {
    for (const double delay : {10.0, 20.0, 40.0, 80.0}) {
      for (const int size : {64, 128}) {
        const double reads = size * 10e-6 / dram;
        const double launches = size / 64.0 * delay * 1e-5;
        result.points.push_back(
            swept_point(std::to_string(size), dram, delay, std::max(reads, launches)));
        result.points.back().details = {{"bound_by", reads > launches ? "DRAM" : "launches"}};
      }
    }
  }
  return result;
}

harness::Presentation swept_presentation() {
  using harness::CellSource;
  return {.columns = {{"dram", CellSource::parameter, "dram"},
                      {"delay", CellSource::parameter, "delay"},
                      {"size", CellSource::parameter, "size"},
                      {"time", CellSource::metric, "time"},
                      {"expected error", CellSource::metric, "expected_error"},
                      {"rate", CellSource::metric, "rate"},
                      {"memory", CellSource::metric, "memory"},
                      {"bound by", CellSource::detail, "bound_by"}},
          .plots = {{.title = "Rate against size",
                     .x_label = "size",
                     .y_label = "rate",
                     .x = "side",
                     .y = "rate",
                     .series = {}}},
          .swept = {"dram", "delay"}};
}

}  // namespace howard::reports::testing
