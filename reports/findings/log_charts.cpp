// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/log_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "reports/findings/gap_names.h"
#include "reports/findings/op_groups.h"
#include "reports/pictures/palette.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using profiler::BusyLane;
using profiler::GapCause;

/// These are the pixels of a picture of the usual width beside each other and above each other.
constexpr double kAcrossRoom = 760;
constexpr double kUpRoom = 440;

/// So many causes have a part of their own; the others together are one more.
constexpr std::size_t kMostCauses = 6;

/// Says how a lane's span divides into equal parts, and what of each was idle, by cause.
struct IdleOverTime {
  static constexpr std::size_t kParts = 60;
  std::array<std::array<double, profiler::kGapCauses>, kParts> shares{};
  double part_seconds = 0;
};

IdleOverTime idle_over_time(const BusyLane& lane) {
  IdleOverTime idle;
  const double start = lane.span.start.seconds();
  idle.part_seconds = lane.span.duration().seconds() / IdleOverTime::kParts;
  if (idle.part_seconds <= 0) return idle;
  const auto part_of = [&](double time) {
    const double part = (time - start) / idle.part_seconds;
    return static_cast<std::size_t>(
        std::clamp(part, 0.0, static_cast<double>(IdleOverTime::kParts - 1)));
  };
  for (std::size_t i = 0; i < lane.gaps.size(); ++i) {
    const double from = lane.gaps[i].span.start.seconds();
    const double to = lane.gaps[i].span.end.seconds();
    const profiler::CauseTimes causes = lane.causes_of(i);
    for (std::size_t part = part_of(from); part <= part_of(to); ++part) {
      const double begin = start + static_cast<double>(part) * idle.part_seconds;
      const double within = std::min(to, begin + idle.part_seconds) - std::max(from, begin);
      if (within <= 0) continue;
      for (std::size_t cause = 0; cause < profiler::kGapCauses; ++cause) {
        const double time = causes[static_cast<GapCause>(cause)].seconds();
        idle.shares[part][cause] += 100 * time * (within / (to - from)) / idle.part_seconds;
      }
    }
  }
  return idle;
}

struct Roofs {
  std::map<std::string, double> peaks;  ///< The peaks by math fidelity, in FLOP/s.
  double bandwidth = 0;                 ///< The DRAM's B/s.
};

/// Returns the time of a run's bytes at the peak of the DRAM, each operand once.
double dram_seconds(const profiler::CallUse& use) {
  const auto once = static_cast<double>(use.facts.dram.value());
  const auto again = static_cast<double>(use.facts.read_again.value());
  return use.dram_at_peak.seconds() * once / (once + again);
}

ChartSeries roof_of(const std::string& fidelity, double peak, double bandwidth,
                    const XyChart& chart) {
  constexpr double kTera = 1e-12;
  const double low = std::max(chart.x.low, chart.y.low / kTera / bandwidth);
  const double knee = std::clamp(peak / bandwidth, low, std::max(low, chart.x.high));
  ChartSeries roof{.title = "peak, " + fidelity, .dots = false, .marks = {}};
  for (const double at : {low, knee, chart.x.high}) {
    roof.marks.push_back({.x = at, .y = kTera * std::min(at * bandwidth, peak)});
  }
  return roof;
}

}  // namespace

std::optional<BarPicture> ops_chart(const profiler::LoggedRun& run, const std::string& of) {
  if (run.timeline.programs.empty()) return std::nullopt;
  constexpr std::size_t kMostOps = 15;
  const std::vector<OpGroup> groups = group_programs(run.timeline, &profiler::ProgramRun::name);
  const std::size_t shown = std::min(kMostOps, groups.size());
  std::vector<double> times;
  for (const OpGroup& group : std::span(groups).first(shown)) {
    times.push_back(group.time.seconds());
  }
  const Scale scale = fit_scale("s", times);
  const double whole = total_time(groups).seconds();
  BarPicture picture{.name = {},
                     .title = "Kernel time by op: " + of,
                     .label = with_unit("time", scale.unit),
                     .parts = {{"", std::string(series_color(0))}},
                     .headings = {with_unit("time", scale.unit), "share (%)", "runs"},
                     .rows = {},
                     .longest = in_unit(times.front(), scale),
                     .line = {}};
  for (std::size_t i = 0; i < shown; ++i) {
    picture.rows.push_back(
        {.name = std::string(brief_name(run.timeline.names.name(groups[i].name))),
         .ends = {in_unit(times[i], scale)},
         .cells = {format_number(times[i], scale),
                   whole > 0 ? fmt::format("{:.1f}", 100 * times[i] / whole) : "",
                   fmt::to_string(groups[i].runs)},
         .published = {}});
  }
  return picture;
}

std::optional<BarPicture> causes_chart(std::span<const BusyLane> lanes, profiler::LaneKind kind,
                                       const std::string& of) {
  if (lanes.empty()) return std::nullopt;
  const std::vector<GapCause> present = causes_present(profiler::time_by_cause(lanes));
  const std::size_t shown = std::min(present.size(), kMostCauses);
  std::vector<double> spans;
  for (const BusyLane& lane : lanes) spans.push_back(lane.span.duration().seconds());
  const Scale scale = fit_scale("s", spans);
  BarPicture picture{.name = {},
                     .title = "Where the time went: " + of,
                     .label = with_unit("time", scale.unit),
                     .parts = {{"busy", std::string(kRestColor)}},
                     .headings = {with_unit("time", scale.unit), "busy (%)"},
                     .rows = {},
                     .longest = in_unit(*std::ranges::max_element(spans), scale),
                     .line = {}};
  for (std::size_t i = 0; i < shown; ++i) {
    picture.parts.push_back(
        {std::string(name_of(present[i])), std::string(cause_color(present[i]))});
  }
  if (present.size() > shown)
    picture.parts.push_back({"other causes", std::string(cause_color(GapCause::unknown))});
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const BusyLane& lane = lanes[i];
    SimTime end = lane.busy;
    BarRow row{.name = lane_name(lanes, lane, kind), .ends = {}, .cells = {}, .published = {}};
    const auto add = [&](SimTime time) {
      end = end + time;
      row.ends.push_back(in_unit(end.seconds(), scale));
    };
    add(SimTime());
    for (std::size_t j = 0; j < shown; ++j) add(lane.causes[present[j]]);
    if (present.size() > shown) add(lane.busy + lane.idle - end);
    row.cells = {format_number(spans[i], scale),
                 spans[i] > 0 ? fmt::format("{:.1f}", 100 * lane.busy.seconds() / spans[i]) : ""};
    picture.rows.push_back(std::move(row));
  }
  return picture;
}

std::optional<StackChart> idle_chart(const BusyLane& lane, const std::string& of) {
  if (lane.idle <= SimTime()) return std::nullopt;
  const IdleOverTime idle = idle_over_time(lane);
  const std::vector<GapCause> present = causes_present(lane.causes);
  const std::array spans{lane.span.duration().seconds()};
  const Scale scale = fit_scale("s", spans);
  StackChart chart{
      .name = {},
      .title = fmt::format("Idle time by cause, over time: {}, device {}", of, lane.device),
      .x = linear_axis(0, in_unit(spans.front(), scale), kAcrossRoom),
      .y = linear_axis_upwards(0, 100, kUpRoom),
      .x_label = with_unit("since the first program", scale.unit),
      .y_label = "idle (%)",
      .parts = {},
      .width = in_unit(idle.part_seconds, scale),
      .columns = {}};
  for (std::size_t i = 0; i < present.size(); ++i) {
    chart.parts.push_back({std::string(name_of(present[i])), std::string(cause_color(present[i]))});
  }
  for (const auto& shares : idle.shares) {
    std::vector<double>& ends = chart.columns.emplace_back();
    double end = 0;
    for (const GapCause cause : present)
      ends.push_back(end += shares[static_cast<std::size_t>(cause)]);
  }
  return chart;
}

profiler::BusyLane steady_part(const profiler::Timeline& timeline, const BusyLane& lane) {
  std::set<std::pair<std::uint32_t, profiler::NameId>> seen;
  std::size_t first = 0;  // the gap behind the last of the first runs
  if (!lane.gaps.empty()) {
    const profiler::ProgramRun& one = timeline.programs[lane.gaps.front().before];
    seen.insert({one.call, one.name});
  }
  constexpr std::size_t kQuarter = 4;
  for (std::size_t i = 0; i < lane.gaps.size(); ++i) {
    const profiler::ProgramRun& program = timeline.programs[lane.gaps[i].after];
    const bool is_first = seen.insert({program.call, program.name}).second;
    const bool had_run = program.ran_before || program.replay != 0;
    const bool is_new = (is_first && !had_run) || program.compiled;
    const bool leaves_enough = kQuarter * (lane.gaps.size() - i) >= lane.gaps.size();
    if (is_new && leaves_enough) first = i + 1;
  }
  if (first == 0 || first >= lane.gaps.size()) return lane;
  BusyLane part = lane;
  part.gaps.assign(lane.gaps.begin() + static_cast<std::ptrdiff_t>(first), lane.gaps.end());
  part.gap_causes.clear();
  part.causes = {};
  part.idle = {};
  part.span.start = lane.gaps[first - 1].span.end;
  for (std::size_t i = first; i < lane.gaps.size(); ++i) {
    const profiler::CauseTimes causes = lane.causes_of(i);
    part.gap_causes.push_back(causes);
    part.idle += lane.gaps[i].span.duration();
    for (std::size_t cause = 0; cause < profiler::kGapCauses; ++cause) {
      part.causes[static_cast<GapCause>(cause)] += causes[static_cast<GapCause>(cause)];
    }
  }
  part.busy = part.span.duration() - part.idle;
  return part;
}

std::optional<XyChart> roofline_chart(const LogAdvice& advice, const std::string& of) {
  constexpr std::size_t kMostMarks = 10, kNamed = 6;
  Roofs roofs;
  std::vector<ChartSeries> calls;
  std::vector<double> intensities, rates;
  for (const profiler::CallUse& use : advice.uses) {
    if (use.flops_at_peak == SimTime() || use.dram_at_peak == SimTime()) continue;
    if (use.median == SimTime()) continue;
    const auto flops = static_cast<double>(use.facts.flops.value());
    const auto bytes = static_cast<double>(use.facts.dram.value());
    const double rate = flops / use.median.seconds();
    const double peak = flops / use.flops_at_peak.seconds();
    roofs.peaks[use.fidelity.empty() ? "default" : use.fidelity] = peak;
    roofs.bandwidth = bytes / dram_seconds(use);
    intensities.push_back(flops / bytes);
    rates.insert(rates.end(), {rate * 1e-12, peak * 1e-12});
    const std::string name = fmt::format("{} {}", brief_name(use.name), use.facts.short_operands);
    if (calls.size() <= kNamed) {
      calls.push_back({.title = calls.size() < kNamed ? name : "other calls",
                       .color = calls.size(),
                       .line = false,
                       .marks = {}});
    }
    calls.back().marks.push_back(
        {.x = flops / bytes,
         .y = rate * 1e-12,
         .hint = fmt::format("{}: {}, {:.1f} FLOP/B", name, format_quantity(rate, "FLOP/s"),
                             flops / bytes)});
  }
  if (calls.empty()) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(intensities);
  const auto [slowest, fastest] = std::ranges::minmax(rates);
  XyChart chart{.name = {},
                .title = "Products under the roofline: " + of,
                .x = log_axis(least / 2, most * 2, kMostMarks),
                .y = log_axis(slowest, fastest * 1.1, kMostMarks),
                .x_label = "FLOP per byte of DRAM",
                .y_label = "TFLOP/s",
                .series = {}};
  for (const auto& [fidelity, peak] : roofs.peaks) {
    chart.series.push_back(roof_of(fidelity, peak, roofs.bandwidth, chart));
    chart.series.back().dashes = chart.series.size();
  }
  std::ranges::move(calls, std::back_inserter(chart.series));
  return chart;
}

}  // namespace howard::reports
