// SPDX-License-Identifier: Apache-2.0
#include "reports/page/sample_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "reports/page/svg.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::Metric;
using harness::PointResult;

constexpr std::size_t kMostPoints = 60;
constexpr std::size_t kFewestRuns = 3;

const Metric* runs_of(const PointResult& point) {
  const Metric* const time = point.find_metric("time");
  const bool trains = point.find_metric("loss") != nullptr;
  return time != nullptr && !trains && time->value > 0 && time->samples.size() >= kFewestRuns
             ? time
             : nullptr;
}

std::string axes_in_words(const PointResult& point) {
  std::string words;
  for (const auto& [axis, value] : point.parameters) {
    words += fmt::format("{}{}={}", words.empty() ? "" : ", ", axis, value);
  }
  return words;
}

}  // namespace

std::optional<XyChart> sample_chart(const harness::ExperimentResult& result) {
  std::vector<const PointResult*> points;
  for (const PointResult& point : result.points) {
    if (runs_of(point) != nullptr) points.push_back(&point);
  }
  if (points.empty() || points.size() > kMostPoints) return std::nullopt;
  ChartSeries runs{.title = "a run", .line = false, .marks = {}};
  double low = -1, high = 1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Metric& time = *runs_of(*points[i]);
    const Scale scale = fit_scale(time.unit, time.samples);
    const std::string words = axes_in_words(*points[i]);
    for (std::size_t run = 0; run < time.samples.size(); ++run) {
      const double off = 100 * (time.samples[run] / time.value - 1);
      runs.marks.push_back({static_cast<double>(i) + 1, off,
                            fmt::format("{}: run {}, {} {}, {:+.1f} % of the median {}", words,
                                        run + 1, format_number(time.samples[run], scale),
                                        scale.unit, off, format_number(time.value, scale))});
      low = std::min(low, off);
      high = std::max(high, off);
    }
  }
  return XyChart{.name = {},
                 .title = fmt::format("{}: the runs of each measured point", result.experiment),
                 .x = whole_axis(0, static_cast<double>(points.size()) + 1, kChartAcross),
                 .y = linear_axis_upwards(low, high, kChartUp),
                 .x_label = "measured point, in the order of the table",
                 .y_label = "time, off the point's median (%)",
                 .series = {std::move(runs)}};
}

}  // namespace howard::reports
