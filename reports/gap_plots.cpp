// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "reports/format.h"
#include "reports/gap_names.h"
#include "reports/gap_report.h"

namespace howard::reports {
namespace {

using profiler::BusyLane;
using profiler::CauseTimes;
using profiler::GapBin;
using profiler::GapCause;
using profiler::LaneKind;

Picture lengths_picture(const std::vector<GapBin>& bins) {
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
  picture.settings =
      "set title 'Gaps between programs by their length'\n"
      "set xlabel 'length, from'\n"
      "set ylabel 'share (%)'\n"
      "set yrange [0:*]\n"
      "set xtics rotate by -45\n"
      "set style data histograms\n"
      "set style histogram clustered gap 1\n"
      "set style fill solid 0.9 border -1\n";
  picture.curves = {fmt::format("data using 2:xtic(1) {} title 'of the gaps'", gnuplot_color(0)),
                    fmt::format("data using 3 {} title 'of the idle time'", gnuplot_color(1))};
  return picture;
}

/// The causes with colours of their own; the others are one more bar.
constexpr std::size_t kMostCauses = 6;

Picture causes_picture(std::span<const BusyLane> lanes, LaneKind kind) {
  const std::vector<GapCause> present = causes_present(profiler::time_by_cause(lanes));
  const std::size_t shown = std::min(present.size(), kMostCauses);
  std::vector<double> spans;
  for (const BusyLane& lane : lanes) spans.push_back(lane.span.duration().seconds());
  const Scale scale = fit_scale("s", spans);
  const auto text = [&](SimTime time) {
    return fmt::format("{:.10g}", in_unit(time.seconds(), scale));
  };

  Picture picture;
  picture.data = fmt::format("# times in {}; columns: lane | busy", scale.unit);
  for (std::size_t i = 0; i < shown; ++i) {
    picture.data += fmt::format(" | {}", name_of(present[i]));
  }
  picture.data += " | other causes\n";
  for (const BusyLane& lane : lanes) {
    const CauseTimes& causes = lane.causes;
    picture.data +=
        fmt::format("{} {}", gnuplot_word(lane_name(lanes, lane, kind)), text(lane.busy));
    SimTime other = lane.idle;
    for (std::size_t i = 0; i < shown; ++i) {
      picture.data += " " + text(causes[present[i]]);
      other = other - causes[present[i]];
    }
    picture.data += fmt::format(" {}\n", text(other));
  }
  picture.settings = fmt::format(
      "set title 'Where the time went'\n"
      "set ylabel {}\n"
      "set yrange [0:*]\n"
      "set style data histograms\n"
      "set style histogram rowstacked\n"
      "set style fill solid 0.9 border -1\n"
      "set boxwidth 0.6\n"
      "set key outside right top vertical Left reverse samplen 2 invert\n",
      gnuplot_string(with_unit("time", scale.unit)));
  picture.curves.push_back("data using 2:xtic(1) lc rgb '#cccccc' title 'busy'");
  for (std::size_t i = 0; i < shown; ++i) {
    picture.curves.push_back(fmt::format("data using {} {} title {}", i + 3, gnuplot_color(i),
                                         gnuplot_string(name_of(present[i]))));
  }
  if (present.size() > shown) {
    picture.curves.push_back(fmt::format("data using {} {} title 'other causes'", shown + 3,
                                         gnuplot_color(kMostCauses)));
  }
  return picture;
}

}  // namespace

PlotFiles write_gap_plots(std::span<const BusyLane> lanes, LaneKind kind, const std::string& name,
                          const std::filesystem::path& folder) {
  PlotFiles files;
  const std::vector<GapBin> bins = profiler::gap_histogram(lanes);
  if (!bins.empty()) {
    Picture lengths = lengths_picture(bins);
    lengths.name = name + "_gaps";
    files.add(write_picture(lengths, folder));
  }
  if (!lanes.empty()) {
    Picture causes = causes_picture(lanes, kind);
    causes.name = name + "_causes";
    files.add(write_picture(causes, folder));
  }
  return files;
}

}  // namespace howard::reports
