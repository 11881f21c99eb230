// SPDX-License-Identifier: Apache-2.0
#include "profiler/op_runs.h"

#include <algorithm>
#include <cstddef>

#include "profiler/dispatch_gaps.h"

namespace howard::profiler {

std::vector<OpRun> op_runs(const Timeline& timeline, const FactsOfProgram& facts) {
  std::vector<SimTime> idle_before(timeline.programs.size());
  for (const BusyLane& device : find_gaps(timeline, LaneKind::device)) {
    for (const Gap& gap : device.gaps) idle_before[gap.after] = gap.span.duration();
  }
  std::vector<std::size_t> order(timeline.programs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return timeline.programs[i].kernel.start; });
  std::vector<OpRun> runs;
  runs.reserve(order.size());
  for (const std::size_t i : order) {
    const ProgramRun& program = timeline.programs[i];
    OpRun& run = runs.emplace_back(OpRun{.name = timeline.names.name(program.name),
                                         .section = timeline.names.name(program.section),
                                         .duration = program.kernel.duration(),
                                         .idle_before = idle_before[i]});
    const ProgramFacts* const known = facts(program.number);
    if (known == nullptr) continue;
    const ProgramWork& work = known->work;
    run.flops = work.flops;
    run.dram = work.dram;
    run.peak_flops = work.peak_flops;
    run.peak_bandwidth = work.peak_bandwidth;
    run.limited_by = work.limited_by;
    if (work.cores > 0 && known->worker_cores > 0) {
      run.cores_used = static_cast<double>(work.cores) / known->worker_cores;
    }
  }
  return runs;
}

}  // namespace howard::profiler
