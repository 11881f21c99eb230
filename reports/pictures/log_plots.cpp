// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/log_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <vector>

#include "profiler/dispatch_gaps.h"
#include "reports/findings/gap_names.h"
#include "reports/findings/gap_report.h"
#include "reports/findings/op_groups.h"
#include "reports/pictures/bar_picture.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using profiler::BusyLane;
using profiler::GapCause;

BarPicture ops_picture(const profiler::LoggedRun& run, const std::string& name) {
  constexpr std::size_t kMostOps = 15;
  const std::vector<OpGroup> groups = group_programs(run.timeline, &profiler::ProgramRun::name);
  const std::size_t shown = std::min(kMostOps, groups.size());
  std::vector<double> times;
  for (const OpGroup& group : std::span(groups).first(shown)) {
    times.push_back(group.time.seconds());
  }
  const Scale scale = fit_scale("s", times);
  const double whole = total_time(groups).seconds();
  BarPicture picture{.name = name + "_ops",
                     .title = "Kernel time by op: " + name,
                     .label = with_unit("time", scale.unit),
                     .parts = {{"", gnuplot_color(0)}},
                     .headings = {with_unit("time", scale.unit), "share (%)", "runs"},
                     .longest = in_unit(times.front(), scale)};
  for (std::size_t i = 0; i < shown; ++i) {
    picture.rows.push_back(
        {.name = std::string(run.timeline.names.name(groups[i].name)),
         .ends = {in_unit(times[i], scale)},
         .cells = {format_number(times[i], scale),
                   whole > 0 ? fmt::format("{:.1f}", 100 * times[i] / whole) : "",
                   fmt::to_string(groups[i].runs)}});
  }
  return picture;
}

/// How a lane's span divides into equal parts, and what of each was idle, by cause.
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

Picture idle_picture(const BusyLane& lane, const std::string& name) {
  const IdleOverTime idle = idle_over_time(lane);
  const std::vector<GapCause> present = causes_present(lane.causes);
  const std::array spans{lane.span.duration().seconds()};
  const Scale scale = fit_scale("s", spans);
  Picture picture;
  picture.name = name + "_idle";
  picture.title = fmt::format("Idle time by cause, over time: {}, device {}", name, lane.device);
  picture.data = "# columns: since the start";
  for (const GapCause cause : present) picture.data += fmt::format(" | {} (%)", name_of(cause));
  picture.data += "\n";
  for (std::size_t part = 0; part < IdleOverTime::kParts; ++part) {
    const double since = static_cast<double>(part) * idle.part_seconds;
    const bool marked = part % 10 == 0;
    picture.data += marked ? gnuplot_word(format_number(since, scale)) : "\"\"";
    for (const GapCause cause : present) {
      picture.data += fmt::format(" {:.6g}", idle.shares[part][static_cast<std::size_t>(cause)]);
    }
    picture.data += "\n";
  }
  picture.settings = fmt::format(
      "set xlabel {}\nset ylabel 'idle (%)'\nset yrange [0:100]\nset xtics noenhanced\n"
      "set style data histograms\nset style histogram rowstacked\n"
      "set style fill solid 0.9 noborder\nset boxwidth 1\n",
      gnuplot_string(with_unit("since the first program", scale.unit)));
  for (std::size_t i = 0; i < present.size(); ++i) {
    picture.curves.push_back(fmt::format("data using {}{} {} title {}", i + 2,
                                         i == 0 ? ":xtic(1)" : "", gnuplot_color(i),
                                         gnuplot_string(name_of(present[i]))));
  }
  return picture;
}

/// The products of a log under the roof of the chip, a roof for each fidelity.
Picture roofline_picture(const LogAdvice& advice, const std::string& name) {
  Picture picture;
  std::map<std::string, double> peaks;  // FLOP/s
  double bandwidth = 0;                 // B/s
  picture.data = "# columns: FLOP per byte of DRAM | TFLOP/s | op\n";
  bool any = false;
  for (const profiler::CallUse& use : advice.uses) {
    if (use.flops_at_peak == SimTime() || use.dram_at_peak == SimTime()) continue;
    if (use.median == SimTime()) continue;
    const auto flops = static_cast<double>(use.facts.flops.value());
    const auto bytes = static_cast<double>(use.facts.dram.value());
    picture.data += fmt::format("{:.6g} {:.6g} {}\n", flops / bytes,
                                flops / use.median.seconds() * 1e-12, gnuplot_word(use.name));
    peaks[use.fidelity.empty() ? "default" : use.fidelity] = flops / use.flops_at_peak.seconds();
    bandwidth = bytes / use.dram_at_peak.seconds();
    any = true;
  }
  if (!any) return {};
  picture.name = name + "_roofline";
  picture.title = "Products under the roofline: " + name;
  picture.settings =
      "set logscale xy\n"
      "set xrange [1:1000]\n"
      "set xlabel 'FLOP per byte of DRAM'\n"
      "set ylabel 'TFLOP/s'\n"
      "set key left top\n";
  picture.curves = {fmt::format("data using 1:2 with points pt 7 ps 1.2 {} title 'calls, medians'",
                                gnuplot_color(0))};
  std::size_t color = 1;
  for (const auto& [fidelity, peak] : peaks) {
    picture.curves.push_back(
        fmt::format("(x*{0:.6g} < {1:.6g} ? x*{0:.6g} : {1:.6g}) with lines "
                    "lw 2 {2} title {3}",
                    bandwidth * 1e-12, peak * 1e-12, gnuplot_color(color++),
                    gnuplot_string("peak, " + fidelity)));
  }
  return picture;
}

}  // namespace

PlotFiles write_log_plots(const profiler::LoggedRun& run, const LogAdvice& advice,
                          const std::string& name, const Canvas& canvas) {
  PlotFiles files;
  if (run.timeline.programs.empty()) return files;
  files.add(write_bars(ops_picture(run, name), canvas));
  if (run.knows_starts) {
    const std::vector<BusyLane> devices =
        profiler::find_gaps(run.timeline, profiler::LaneKind::device);
    files.add(write_gap_plots(devices, profiler::LaneKind::device, name, name, canvas));
    if (devices.front().idle > SimTime()) {
      Picture idle = idle_picture(devices.front(), name);
      idle.size = canvas.size_or({});
      files.add(write_picture(idle, canvas));
    }
  }
  Picture roofline = roofline_picture(advice, name);
  if (!roofline.name.empty()) {
    roofline.size = canvas.size_or({});
    files.add(write_picture(roofline, canvas));
  }
  return files;
}

}  // namespace howard::reports
