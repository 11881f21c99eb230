// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "reports/findings/gap_names.h"
#include "reports/findings/gap_report.h"
#include "reports/findings/log_charts.h"
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
  if (auto causes = causes_chart(lanes, kind, of)) {
    causes->name = name + "_causes";
    files.add(write_bars(*causes, canvas));
  }
  return files;
}

}  // namespace howard::reports
