// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "reports/findings/gap_names.h"
#include "reports/findings/gap_report.h"
#include "reports/findings/log_charts.h"
#include "reports/pictures/bar_picture.h"
#include "reports/pictures/palette.h"
#include "reports/tables/format.h"

namespace howard::reports {
namespace {

using profiler::BusyLane;
using profiler::CauseTimes;
using profiler::GapBin;
using profiler::GapCause;
using profiler::LaneKind;

Picture lengths_picture(const std::vector<GapBin>& bins, const std::string& of,
                        const PictureSize& size) {
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
  picture.x_label = "length, from";
  picture.y_label = "share (%)";
  picture.size = size;
  picture.foot = 60;  // its marks are rotated
  picture.right = 40;
  picture.legend = {{.title = "of the gaps", .box = std::string(series_color(0))},
                    {.title = "of the idle time", .box = std::string(series_color(1))}};
  picture.settings =
      "set yrange [0:*]\n"
      "set xtics rotate by -45 noenhanced\n"
      "set style data histograms\n"
      "set style histogram clustered gap 1\n"
      "set style fill solid border -1\n";
  // In a narrow picture only some bins have a mark.
  const double room =
      (size.width - picture.left - picture.right) / static_cast<double>(bins.size());
  picture.curves = {
      fmt::format("data using 2:xtic(int($0) % {:.0f} == 0 ? strcol(1) : '') {} notitle",
                  std::max(1.0, std::ceil(1.3 * kLineHeight / room)), gnuplot_color(0)),
      fmt::format("data using 3 {} notitle", gnuplot_color(1))};
  return picture;
}

}  // namespace

PlotFiles write_gap_plots(std::span<const BusyLane> lanes, LaneKind kind, const std::string& name,
                          const std::string& of, const Canvas& canvas) {
  PlotFiles files;
  const std::vector<GapBin> bins = profiler::gap_histogram(lanes);
  if (!bins.empty()) {
    Picture lengths = lengths_picture(bins, of, canvas.size_or({}));
    lengths.name = name + "_gaps";
    files.add(write_picture(lengths, canvas));
  }
  if (auto causes = causes_chart(lanes, kind, of)) {
    causes->name = name + "_causes";
    files.add(write_bars(*causes, canvas));
  }
  return files;
}

}  // namespace howard::reports
