// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/formats/repetitions.h"

#include "harness/statistics.h"

namespace howard::tracking {
namespace {

Row row_of(const Series& series, std::vector<double> values) {
  Row row{.series = series, .value = *harness::median(values)};
  if (values.size() > 1) row.samples = std::move(values);
  return row;
}

}  // namespace

Row time_row(std::string benchmark, std::vector<double> samples) {
  return row_of({std::move(benchmark), "time", "s", harness::Better::lower, Kind::sampled},
                std::move(samples));
}

Row failed_row(std::string benchmark, std::string reason) {
  return {.series = {std::move(benchmark), "", "", harness::Better::lower, Kind::failed},
          .words = std::move(reason)};
}

std::string optional_text(const JsonNode& node, const char* key) {
  return node.has(key) && node.member(key).is_text() ? node.member(key).text() : "";
}

void Repetitions::add(const std::string& benchmark, double seconds) {
  add(Series{benchmark, "time", "s", harness::Better::lower, Kind::sampled}, seconds);
}

void Repetitions::add(const Series& series, double value) {
  const auto [found, is_new] = values_.try_emplace(series);
  if (is_new) order_.push_back(series);
  found->second.push_back(value);
}

void Repetitions::fail(const std::string& benchmark, std::string reason) {
  if (!failures_.emplace(benchmark, std::move(reason)).second) return;
  order_.push_back(failed_row(benchmark, "").series);
}

std::vector<Row> Repetitions::rows() const {
  std::vector<Row> found;
  for (const Series& series : order_) {
    const auto failure = failures_.find(series.benchmark);
    if (series.kind == Kind::failed) {
      found.push_back(failed_row(series.benchmark, failure->second));
    } else if (failure == failures_.end()) {
      found.push_back(row_of(series, values_.at(series)));
    }
  }
  return found;
}

}  // namespace howard::tracking
