// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "reports/findings/gap_names.h"
#include "reports/findings/gap_report.h"
#include "reports/pictures/bar_picture.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using profiler::BusyLane;
using profiler::CauseTimes;
using profiler::GapBin;
using profiler::GapCause;
using profiler::LaneKind;

Picture lengths_picture(const std::vector<GapBin>& bins, const std::string& of) {
  double count = 0;
  double idle = 0;
  for (const GapBin& bin : bins) {
    count += static_cast<double>(bin.count);
    idle += bin.idle.seconds();
  }
  Picture picture;
  picture.data = "# columns: shortest of the bin | % of the gaps | % of the idle time\n";
  for (const GapBin& bin : bins) {
    picture.data +=
        fmt::format("{} {:.10g} {:.10g}\n", gnuplot_word(bound_name(bin.low)),
                    100 * static_cast<double>(bin.count) / count, 100 * bin.idle.seconds() / idle);
  }
  picture.title = "Gaps between programs by their length: " + of;
  picture.settings =
      "set xlabel 'length, from'\n"
      "set ylabel 'share (%)'\n"
      "set yrange [0:*]\n"
      "set xtics rotate by -45 noenhanced\n"
      "set style data histograms\n"
      "set style histogram clustered gap 1\n"
      "set style fill solid 0.9 border -1\n";
  picture.curves = {fmt::format("data using 2:xtic(1) {} title 'of the gaps'", gnuplot_color(0)),
                    fmt::format("data using 3 {} title 'of the idle time'", gnuplot_color(1))};
  return picture;
}

/// So many causes have colours of their own; the others together are one more bar.
constexpr std::size_t kMostCauses = 6;

BarPicture causes_picture(std::span<const BusyLane> lanes, LaneKind kind, const std::string& of) {
  const std::vector<GapCause> present = causes_present(profiler::time_by_cause(lanes));
  const std::size_t shown = std::min(present.size(), kMostCauses);
  std::vector<double> spans;
  for (const BusyLane& lane : lanes) spans.push_back(lane.span.duration().seconds());
  const Scale scale = fit_scale("s", spans);
  BarPicture picture{.title = "Where the time went: " + of,
                     .label = with_unit("time", scale.unit),
                     .parts = {{"busy", "lc rgb '#cccccc'"}},
                     .headings = {with_unit("time", scale.unit), "busy (%)"},
                     .longest = in_unit(*std::ranges::max_element(spans), scale)};
  for (std::size_t i = 0; i < shown; ++i) {
    picture.parts.push_back({std::string(name_of(present[i])), gnuplot_color(i)});
  }
  if (present.size() > shown) picture.parts.push_back({"other causes", gnuplot_color(kMostCauses)});
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const BusyLane& lane = lanes[i];
    SimTime end = lane.busy;
    BarRow row{.name = lane_name(lanes, lane, kind)};
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

}  // namespace

PlotFiles write_gap_plots(std::span<const BusyLane> lanes, LaneKind kind, const std::string& name,
                          const std::string& of, const Canvas& canvas) {
  PlotFiles files;
  const std::vector<GapBin> bins = profiler::gap_histogram(lanes);
  if (!bins.empty()) {
    Picture lengths = lengths_picture(bins, of);
    lengths.name = name + "_gaps";
    lengths.size = canvas.size_or({});
    files.add(write_picture(lengths, canvas));
  }
  if (!lanes.empty()) {
    BarPicture causes = causes_picture(lanes, kind, of);
    causes.name = name + "_causes";
    files.add(write_bars(causes, canvas));
  }
  return files;
}

}  // namespace howard::reports
