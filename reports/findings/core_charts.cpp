// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "reports/findings/log_charts.h"

namespace howard::reports {
namespace {

using profiler::CoreTime;

std::size_t place_in(const std::set<std::int32_t>& values, std::int32_t value) {
  return static_cast<std::size_t>(std::distance(values.begin(), values.find(value)));
}

/// Returns the map of one device's cores, which ran programs for `span`.
MapChart chart_of(const std::vector<const CoreTime*>& cores, SimTime span) {
  constexpr double kAll = 100;
  MapChart chart{.title = {},
                 .x_label = "core_x",
                 .y_label = "core_y",
                 .label = "busy (%)",
                 .columns = {},
                 .rows = {},
                 .cells = {},
                 .colors = linear_axis(0, kAll, 200)};
  std::set<std::int32_t> columns, rows;
  for (const CoreTime* const core : cores) {
    columns.insert(core->x);
    rows.insert(core->y);
  }
  for (const std::int32_t x : columns) chart.columns.push_back(fmt::to_string(x));
  for (const std::int32_t y : rows) chart.rows.push_back(fmt::to_string(y));
  std::ranges::reverse(chart.rows);
  for (const CoreTime* const core : cores) {
    const double share = std::min(kAll, kAll * core->busy.seconds() / span.seconds());
    chart.cells.push_back({.column = place_in(columns, core->x),
                           .row = rows.size() - 1 - place_in(rows, core->y),
                           .value = share,
                           .text = fmt::format("{:.0f}", share)});
  }
  return chart;
}

}  // namespace

std::vector<MapChart> core_charts(const profiler::LoggedRun& run, const std::string& of) {
  std::map<std::uint16_t, std::vector<const CoreTime*>> devices;
  for (const CoreTime& core : run.cores) devices[core.device].push_back(&core);
  std::vector<MapChart> charts;
  for (const auto& [device, cores] : devices) {
    std::optional<profiler::Span> span;
    for (const profiler::ProgramRun& program : run.timeline.programs) {
      if (program.device != device) continue;
      if (!span) span = program.kernel;
      span->start = std::min(span->start, program.kernel.start);
      span->end = std::max(span->end, program.kernel.end);
    }
    // A single core is no map.
    if (!span || span->duration() <= SimTime() || cores.size() < 2) continue;
    MapChart chart = chart_of(cores, span->duration());
    chart.title = fmt::format("Time in kernels, by core of device {}: {}", device, of);
    charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace howard::reports
