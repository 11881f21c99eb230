// SPDX-License-Identifier: Apache-2.0
#include "reports/page/training_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "base/text.h"
#include "reports/page/svg.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using harness::Metric;
using harness::PointResult;

/// A dot at each of more steps would hide the line.
constexpr std::size_t kMostStepDots = 100;

/// Returns the number of the first step whose samples a point has.
double first_step(const PointResult& point, std::size_t steps) {
  const auto last = point.find(harness::kStepsDone);
  return last ? static_cast<double>(*last) - static_cast<double>(steps) + 1 : 1;
}

/// Holds the values of each step in a unit.
struct StepValues {
  std::string title, label, unit;
  std::vector<double> values;
};

XyChart chart_of(const StepValues& steps, double first, const std::string& experiment) {
  const Scale scale = fit_scale(steps.unit, steps.values);
  ChartSeries series{.title = steps.label, .marks = {}};
  series.dots = steps.values.size() <= kMostStepDots;
  std::vector<double> heights;
  for (std::size_t i = 0; i < steps.values.size(); ++i) {
    const double step = first + static_cast<double>(i);
    heights.push_back(in_unit(steps.values[i], scale));
    series.marks.push_back({step, heights.back(),
                            fmt::format("step {}: {} {} {}", step, steps.label,
                                        format_number(steps.values[i], scale), scale.unit)});
  }
  const auto [least, most] = std::ranges::minmax(heights);
  return {
      .name = {},
      .title = fmt::format("{}: {}", experiment, steps.title),
      .x = whole_axis(first, first + static_cast<double>(steps.values.size()) - 1, kChartAcross),
      .y = linear_axis_upwards(std::min(0.0, least), most, kChartUp),
      .x_label = "step",
      .y_label = with_unit(steps.label, scale.unit),
      .series = {std::move(series)}};
}

/// Returns the rate of each step: the metric "tokens" is that of all steps together.
std::vector<double> token_rates(const PointResult& point) {
  const Metric* const time = point.find_metric("time");
  const Metric* const tokens = point.find_metric("tokens");
  if (time == nullptr || tokens == nullptr || time->samples.empty()) return {};
  const double all = std::accumulate(time->samples.begin(), time->samples.end(), 0.0);
  const double each = tokens->value * all / static_cast<double>(time->samples.size());
  std::vector<double> rates;
  for (const double seconds : time->samples) rates.push_back(seconds > 0 ? each / seconds : 0);
  return rates;
}

ChartSeries memory_series(const profiler::MemoryUse& use, const Scale& time, const Scale& bytes,
                          const std::string& title, std::size_t color,
                          Bytes (*amount)(const profiler::MemoryPoint&)) {
  ChartSeries series{.title = title, .color = color, .steps = true, .dots = false, .marks = {}};
  const SimTime start = use.curve.front().time;
  for (const profiler::MemoryPoint& point : use.curve) {
    series.marks.push_back({in_unit((point.time - start).seconds(), time),
                            in_unit(static_cast<double>(amount(point).value()), bytes)});
  }
  return series;
}

}  // namespace

std::vector<XyChart> training_charts(const harness::ExperimentResult& result) {
  std::vector<XyChart> charts;
  for (const PointResult& point : result.points) {
    const Metric* const loss = point.find_metric("loss");
    if (loss == nullptr || loss->samples.size() < 2) continue;
    const double first = first_step(point, loss->samples.size());
    std::vector<StepValues> all{{"loss of each step", "loss", "", loss->samples}};
    if (const Metric* const rate = point.find_metric("learning_rate")) {
      all.push_back({"learning rate of each step", "learning rate", "", rate->samples});
    }
    all.push_back({"rate of each step", "tokens per second", "", token_rates(point)});
    for (const StepValues& steps : all) {
      if (steps.values.size() < 2) continue;
      charts.push_back(chart_of(steps, first, result.experiment));
    }
  }
  return charts;
}

std::optional<XyChart> memory_chart(const profiler::MemoryUse& use) {
  if (use.curve.size() < 2) return std::nullopt;
  const std::vector<double> span{(use.curve.back().time - use.curve.front().time).seconds()};
  const bool l1 = use.l1_peak().l1() > Bytes();
  const std::vector<double> peak{static_cast<double>(
      std::max(use.dram_peak().dram, l1 ? use.l1_peak().l1() : Bytes()).value())};
  const Scale time = fit_scale("s", span);
  const Scale bytes = fit_scale("B", peak);
  XyChart chart{.name = {},
                .title = "Memory in use, from the set-up through the first step",
                .x = linear_axis(0, in_unit(span.front(), time), kChartAcross),
                .y = linear_axis_upwards(0, in_unit(peak.front(), bytes), kChartUp),
                .x_label = with_unit("since the first buffer", time.unit),
                .y_label = with_unit("memory", bytes.unit),
                .series = {}};
  chart.series.push_back(memory_series(
      use, time, bytes, "DRAM", 0, [](const profiler::MemoryPoint& point) { return point.dram; }));
  if (l1) {
    chart.series.push_back(memory_series(
        use, time, bytes, "L1", 1, [](const profiler::MemoryPoint& point) { return point.l1(); }));
  }
  return chart;
}

}  // namespace howard::reports
