// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/formats/damaged_files.h"

#include "base/check.h"
#include "base/error.h"
#include "profiler/dispatch_gaps.h"
#include "profiler/formats/traces/chrome_trace.h"
#include "profiler/formats/traces/perfetto_trace.h"
#include "profiler/formats/tt_metal_logs.h"
#include "tests/profiler/formats/samples.h"
#include "tests/profiler/formats/wormhole_device.h"

namespace howard::profiler::testing {
namespace {

void analyse(const LoggedRun& run) {
  HOWARD_CHECK(!run.timeline.programs.empty() || !run.host_ops.empty(), "a run holds something");
  HOWARD_CHECK(defects_of(run.timeline).empty(), "a reader removes what is impossible");
  for (const BusyLane& lane : find_gaps(run.timeline, LaneKind::sub_device)) {
    HOWARD_CHECK(lane.busy + lane.idle == lane.span.duration(), "busy and idle are the span");
    for (std::size_t i = 0; i < lane.gaps.size(); ++i) {
      HOWARD_CHECK(lane.causes_of(i).total() == lane.gaps[i].span.duration(),
                   "the causes are the gap");
    }
  }
}

}  // namespace

void read_as(LogKind kind, std::string_view text,
             const std::function<void(const LoggedRun&)>& look) {
  try {
    TextBytes source(text);
    const Log log = read_log(kind, source, "file");
    for (const LoggedRun& run : log.runs) {
      analyse(run);
      look(run);
    }
    for (const auto& reason : log.dropped.reasons()) static_cast<void>(describe(reason));
  } catch (const Error&) {
  }
}

std::vector<std::string> whole_files() {
  const std::vector<TimelineEvent> events = sample_events();
  const TraceProcess process{.name = "point", .events = events, .losses = 4};
  const auto no_facts = [](std::uint64_t) { return static_cast<const ProgramFacts*>(nullptr); };
  const std::vector<OpRecord> records = op_records(events, no_facts);
  return {kOpsCsv,
          ops_csv(records, kWormholeDevice),
          kDeviceLog,
          std::string(kDeviceLogFirst) + std::string(kDeviceLogHeader13) +
              "0,1,1,BRISC,7,17592186044000,0,1,BRISC-KERNEL,ZONE_START,1,a.cc,\n"
              "0,1,1,BRISC,7,90,0,1,BRISC-KERNEL,ZONE_END,1,a.cc,\n",
          chrome_trace({&process, 1}).json,
          kForeignTrace,
          perfetto_trace({&process, 1}),
          R"({"schema":"howard.result/1","experiment":"e","context":{},"points":[]})"};
}

}  // namespace howard::profiler::testing
