// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/log_plots.h"

#include <fmt/format.h>

#include <vector>

#include "profiler/dispatch_gaps.h"
#include "reports/findings/gap_report.h"
#include "reports/findings/log_charts.h"
#include "reports/pictures/heat_map.h"

namespace howard::reports {

PlotFiles write_log_plots(const profiler::LoggedRun& run, const LogAdvice& advice,
                          const std::string& name, const Canvas& canvas) {
  PlotFiles files;
  int files_of_cores = 0;
  if (auto ops = ops_chart(run, name)) {
    ops->name = name + "_ops";
    files.add(write_bars(*ops, canvas));
  }
  if (run.knows_starts && !run.timeline.programs.empty()) {
    const std::vector<profiler::BusyLane> devices =
        profiler::find_gaps(run.timeline, profiler::LaneKind::device);
    files.add(write_gap_plots(devices, profiler::LaneKind::device, name, name, canvas));
    if (auto idle = idle_chart(devices.front(), name)) {
      idle->name = name + "_idle";
      files.add(write_stack_chart(*idle, canvas));
    }
  }
  for (const MapChart& cores : core_charts(run, name)) {
    const std::string number = files_of_cores++ == 0 ? "" : fmt::format("{}", files_of_cores);
    files.add(write_map_chart(cores, name + "_cores" + number, canvas));
  }
  if (auto roofline = roofline_chart(advice, name)) {
    roofline->name = name + "_roofline";
    files.add(write_xy_chart(*roofline, canvas));
  }
  return files;
}

}  // namespace howard::reports
