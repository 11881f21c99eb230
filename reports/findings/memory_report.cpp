// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/memory_report.h"

#include <fmt/format.h>
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/csv_writer.h"
#include "reports/pictures/frame.h"
#include "reports/pictures/plot_axes.h"
#include "reports/pictures/xy_chart.h"
#include "reports/tables/cell_text.h"
#include "reports/tables/format.h"
#include "reports/tables/row_columns.h"

namespace howard::reports {
namespace {

using profiler::BufferLifetime;
using profiler::MemoryPhase;
using profiler::MemoryPoint;
using profiler::MemoryUse;

double bytes(Bytes amount) { return static_cast<double>(amount.value()); }

std::string named(const std::string& name) { return name.empty() ? "(no name)" : name; }

bool uses_l1(const MemoryUse& use) { return use.l1_peak().l1() > Bytes(); }

/// Sums up the buffers of one name in one memory.
struct Holder {
  std::string memory;
  std::string phase;
  std::string name;
  std::uint64_t buffers = 0;
  Bytes size;
  Bytes of;  ///< The peak of that memory.
};

void append_holders(const MemoryUse& use, const std::vector<std::size_t>& live, Bytes peak,
                    std::size_t most, std::vector<Holder>& holders) {
  std::map<std::tuple<MemoryKind, std::string, std::string>, Holder> by_name;
  for (const std::size_t i : live) {
    const BufferLifetime& lifetime = use.lifetimes[i];
    Holder& holder = by_name[{lifetime.kind, lifetime.phase, lifetime.name}];
    holder.memory = name_of(lifetime.kind);
    holder.phase = lifetime.phase;
    holder.name = named(lifetime.name);
    ++holder.buffers;
    holder.size += lifetime.size;
    holder.of = peak;
  }
  std::vector<Holder> sorted;
  for (const auto& [key, holder] : by_name) sorted.push_back(holder);
  std::ranges::stable_sort(sorted, std::greater(), &Holder::size);
  if (sorted.size() > most) {
    Holder rest{.memory = sorted.front().memory.substr(0, sorted.front().memory.find(' ')),
                .name = fmt::format("other names: {}", sorted.size() - most),
                .of = peak};
    for (std::size_t i = most; i < sorted.size(); ++i) {
      rest.buffers += sorted[i].buffers;
      rest.size += sorted[i].size;
    }
    sorted.resize(most);
    sorted.push_back(rest);
  }
  holders.insert(holders.end(), sorted.begin(), sorted.end());
}

/// Returns a step for each point: the line stays level until the next one.
std::string curve_text(const MemoryUse& use, const Scale& time, const Scale& dram,
                       const Scale& l1) {
  const SimTime start = use.curve.front().time;
  std::string text =
      fmt::format("# columns: time ({}) | DRAM ({}) | L1 ({})\n", time.unit, dram.unit, l1.unit);
  for (const MemoryPoint& point : use.curve) {
    text += fmt::format("{:.10g} {:.10g} {:.10g}\n", in_unit((point.time - start).seconds(), time),
                        in_unit(bytes(point.dram), dram), in_unit(bytes(point.l1()), l1));
  }
  return text;
}

/// Holds the name of each phase, which is written upwards above the curves.
struct PhaseNames {
  struct Phase {
    std::string name;
    double begins;  ///< A share of the time, as is the next.
    double stands;  ///< Far enough from its neighbours that names do not touch.
  };
  std::vector<Phase> phases;
  double height = 0;  ///< The longest name's, as a share of the axis.

  PhaseNames(const MemoryUse& use, SimTime span, const Frame& frame);
};

PhaseNames::PhaseNames(const MemoryUse& use, SimTime span, const Frame& frame) {
  constexpr double kMostHeight = 0.6;
  const double distance = kLineHeight / frame.width();
  const auto most = static_cast<std::size_t>(1 / distance);
  // If there are too many phases, only the longest have names.
  std::vector<const MemoryPhase*> named_ones;
  for (const MemoryPhase& phase : use.phases) named_ones.push_back(&phase);
  std::ranges::stable_sort(named_ones, std::greater(),
                           [](const MemoryPhase* phase) { return phase->end - phase->start; });
  if (named_ones.size() > most) named_ones.resize(most);
  std::ranges::sort(named_ones);  // they lie in one vector
  double from = 0.7 * distance;   // begins beside the axis
  for (const MemoryPhase* const phase : named_ones) {
    const SimTime start = phase->start - use.curve.front().time;
    const double begins = span > SimTime() ? start.seconds() / span.seconds() : 0;
    phases.push_back(
        {.name = cut_to(named(phase->name), kMostHeight * frame.height()), .begins = begins});
    phases.back().stands = std::max(begins, from);
    from = phases.back().stands + distance;
    height = std::max(height, drawn_width(phases.back().name) / frame.height());
  }
  double to = 1;
  for (auto phase = phases.rbegin(); phase != phases.rend(); ++phase) {
    phase->stands = std::min(phase->stands, to);
    to = phase->stands - distance;
  }
}

/// Draws a dashed line where each phase begins, which bends to its name.
std::string phase_marks(const PhaseNames& names, double roof) {
  constexpr double kBend = 0.04;
  std::string text;
  const auto line = [&](double x, double y, double to_x, double to_y) {
    text += fmt::format(
        "set arrow from graph {:.5g}, graph {:.5g} to graph {:.5g}, graph {:.5g} nohead dt 2 lc "
        "rgb '#888888'\n",
        x, y, to_x, to_y);
  };
  for (const PhaseNames::Phase& phase : names.phases) {
    line(phase.begins, 0, phase.begins, roof);
    line(phase.begins, roof, phase.stands, roof + kBend);
    text += fmt::format(
        "set label {} at graph {:.5g}, graph {:.5g} rotate by 90 left textcolor rgb '#444444'\n",
        gnuplot_string(phase.name), phase.stands, roof + kBend + 0.01);
  }
  return text;
}

}  // namespace

Table memory_phases_table(const MemoryUse& use) {
  const auto dram = [](auto part) {
    return [=](const MemoryPhase& phase) { return std::invoke(part, phase.dram); };
  };
  const auto l1 = [](auto part) {
    return [=](const MemoryPhase& phase) { return std::invoke(part, phase.l1); };
  };
  Table table{.caption = "memory by phase"};
  const RowColumns columns(table, use.phases);
  columns.words("phase", [](const MemoryPhase& phase) { return named(phase.name); });
  columns.quantities("DRAM peak", "B", dram(&MemoryPhase::Dram::cumulative_peak));
  columns.quantities("current", "B", dram(&MemoryPhase::Dram::cumulative_current));
  columns.quantities("segment peak", "B", dram(&MemoryPhase::Dram::peak));
  columns.quantities("allocated", "B", dram(&MemoryPhase::Dram::allocated));
  columns.quantities("released", "B", dram(&MemoryPhase::Dram::released));
  columns.quantities("change", "B", dram(&MemoryPhase::Dram::change));
  if (uses_l1(use)) {
    columns.quantities("L1 peak", "B", l1(&MemoryPhase::L1::total_peak));
    columns.quantities("circular buffers", "B", l1(&MemoryPhase::L1::circular_buffers_peak));
    columns.quantities("buffers", "B", l1(&MemoryPhase::L1::buffers_peak));
  }
  if (use.unmatched > 0) {
    table.notes.push_back(fmt::format(
        "warning: events left out: {} (releases of buffers from before the recording, or "
        "allocations of live ones)",
        use.unmatched));
  }
  if (use.losses > 0) {
    table.notes.push_back("warning: the recording had no room for " + counted(use.losses, "event"));
  }
  return table;
}

Table memory_holders_table(const MemoryUse& use, std::size_t most) {
  std::vector<Holder> holders;
  append_holders(use, use.dram_peak_holders, use.dram_peak().dram, most, holders);
  append_holders(use, use.l1_peak_holders, use.l1_peak().l1(), most, holders);
  Table table{.caption = "memory at its peak"};
  const RowColumns columns(table, holders);
  columns.words("memory", &Holder::memory);
  columns.words("phase", &Holder::phase);
  columns.keys("name", &Holder::name);
  columns.counts("buffers", &Holder::buffers);
  columns.quantities("size", "B", &Holder::size);
  columns.quantities("share", "1", [](const Holder& holder) {
    return holder.of > Bytes() ? std::optional(bytes(holder.size) / bytes(holder.of))
                               : std::nullopt;
  });
  return table;
}

std::string buffers_csv(const MemoryUse& use) {
  CsvWriter csv;
  csv.add_record({"memory", "buffer", "name", "phase", "bytes", "allocated_ps", "released_ps"});
  for (const BufferLifetime& lifetime : use.lifetimes) {
    csv.add_record({std::string(name_of(lifetime.kind)), std::to_string(lifetime.buffer),
                    lifetime.name, lifetime.phase, std::to_string(lifetime.size.value()),
                    std::to_string(lifetime.allocated.ps()),
                    lifetime.released ? std::to_string(lifetime.released->ps()) : ""});
  }
  return csv.take();
}

PlotFiles write_memory_plot(const MemoryUse& use, const std::string& name, const std::string& title,
                            const Canvas& canvas) {
  if (use.curve.empty()) return {};
  const SimTime length = use.curve.back().time - use.curve.front().time;
  const std::vector<double> span{length.seconds()};
  const std::vector<double> most_dram{bytes(use.dram_peak().dram)};
  const std::vector<double> most_l1{bytes(use.l1_peak().l1())};
  const Scale time = fit_scale("s", span);
  const Scale dram = fit_scale("B", most_dram);
  const Scale l1 = fit_scale("B", most_l1);
  Picture picture{.name = name + "_memory",
                  .title = title,
                  .size = canvas.size_or({}),
                  .x_label = with_unit("time", time.unit),
                  .y_label = with_unit("DRAM", dram.unit),
                  .left = 80,
                  .plot_height = 280,
                  .data = curve_text(use, time, dram, l1),
                  .settings = {},
                  .curves = {}};
  picture.legend.push_back({.title = "DRAM", .line = gnuplot_color(0) + " lw 2"});
  picture.curves.push_back(
      fmt::format("data using 1:2 with steps {} lw 2 notitle", gnuplot_color(0)));
  if (uses_l1(use)) {
    picture.right = 80;
    picture.right_label = with_unit("L1", l1.unit);
    picture.legend.push_back({.title = "L1", .line = gnuplot_color(1) + " lw 2"});
    picture.curves.push_back(
        fmt::format("data using 1:3 axes x1y2 with steps {} lw 2 notitle", gnuplot_color(1)));
  }
  const Frame frame = frame_of(picture);
  const PhaseNames names(use, length, frame);
  const double roof = std::max(0.3, 0.93 - names.height);
  const auto up = [&](double most, const Scale& scale) {
    return linear_axis_upwards(0, most > 0 ? 1.05 / roof * in_unit(most, scale) : 1,
                               frame.height());
  };
  const double end = length > SimTime() ? in_unit(span.front(), time) : 1;
  picture.settings = gnuplot_axis("x", linear_axis(0, end, frame.width())) +
                     gnuplot_axis("y", up(most_dram.front(), dram)) + phase_marks(names, roof);
  if (uses_l1(use)) {
    picture.settings +=
        gnuplot_axis("y2", up(most_l1.front(), l1)) + "set y2tics nomirror out\nset border 11\n";
  }
  return write_picture(picture, canvas);
}

}  // namespace howard::reports
