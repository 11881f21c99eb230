// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/tracking/run.h"

namespace howard::tracking {

inline Row exact_row(std::string benchmark, std::int64_t picoseconds, std::string metric = "time") {
  return {
      .series = {std::move(benchmark), std::move(metric), "s", harness::Better::lower, Kind::exact},
      .value = static_cast<double>(picoseconds) * 1e-12,
      .picoseconds = picoseconds};
}

inline Row sampled_row(std::string benchmark, double seconds) {
  return {.series = {std::move(benchmark), "time", "s", harness::Better::lower, Kind::sampled},
          .value = seconds};
}

inline Row words_row(std::string benchmark, std::string name, std::string words,
                     Kind kind = Kind::words) {
  return {.series = {std::move(benchmark), std::move(name), "", harness::Better::lower, kind},
          .words = std::move(words)};
}

inline Run run_with(std::vector<Row> rows, std::string commit = "") {
  return {.commit = std::move(commit), .conditions = {.tool = "howard"}, .rows = std::move(rows)};
}

}  // namespace howard::tracking
