// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/log_results.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "profiler/dispatch_gaps.h"
#include "reports/findings/op_groups.h"

namespace howard::reports {
namespace {

using harness::ExperimentResult;
using harness::PointResult;
using profiler::LoggedRun;
using profiler::Timeline;

/// Adds metrics to a point of a log.
class LogPoint {
 public:
  LogPoint(harness::Parameters run, std::string axis, std::string_view value) {
    point_.backend = harness::Backend::log;
    point_.parameters = std::move(run);
    parameter(std::move(axis), value);
  }

  void parameter(std::string axis, std::string_view value) {
    point_.parameters.emplace_back(std::move(axis), value);
  }
  void time(std::string name, SimTime time) { add(std::move(name), time.seconds(), "s"); }
  void count(std::string name, std::uint64_t count) {
    add(std::move(name), static_cast<double>(count), "count");
  }
  /// Adds `part` of `whole`; nothing if the whole is zero.
  void share(std::string name, SimTime part, SimTime whole) {
    if (whole > SimTime()) add(std::move(name), part.seconds() / whole.seconds(), "1");
  }
  void detail(std::string name, std::string text) {
    if (!text.empty()) point_.details.emplace_back(std::move(name), std::move(text));
  }
  void add_to(ExperimentResult& result) && { result.points.push_back(std::move(point_)); }

  void add(std::string name, double value, std::string unit) {
    point_.metrics.push_back({.name = std::move(name), .value = value, .unit = std::move(unit)});
  }

 private:
  PointResult point_;
};

void add_devices(const LoggedRun& run, std::span<const profiler::BusyLane> devices,
                 const harness::Parameters& of_run, ExperimentResult& result) {
  for (const profiler::BusyLane& lane : devices) {
    LogPoint point(of_run, "device", std::to_string(lane.device));
    point.time("span", lane.span.duration());
    point.time("busy_time", lane.busy);
    point.time("idle_time", lane.idle);
    point.share("idle_share", lane.idle, lane.span.duration());
    point.count("programs", lane.programs);
    point.count("gaps", lane.gaps.size());
    for (std::size_t i = 0; i < profiler::kGapCauses; ++i) {
      const auto cause = static_cast<profiler::GapCause>(i);
      std::string name = "idle." + std::string(name_of(cause));
      std::ranges::replace(name, ' ', '_');
      if (lane.causes[cause] > SimTime()) point.time(std::move(name), lane.causes[cause]);
    }
    const auto device = std::ranges::find(run.devices, lane.device, &profiler::LoggedDevice::id);
    if (device != run.devices.end()) point.detail("architecture", device->architecture);
    point.detail("title", run.title);
    std::move(point).add_to(result);
  }
}

void add_ops(const Timeline& timeline, const harness::Parameters& of_run,
             ExperimentResult& result) {
  const std::vector<OpGroup> groups = group_programs(timeline, &profiler::ProgramRun::name);
  const SimTime whole = total_time(groups);
  for (const OpGroup& group : groups) {
    LogPoint point(of_run, "op", timeline.names.name(group.name));
    point.time("time", group.time);
    point.count("runs", group.runs);
    point.add("mean_time", group.time.seconds() / static_cast<double>(group.runs), "s");
    point.time("shortest_time", group.shortest);
    point.time("longest_time", group.longest);
    point.share("share", group.time, whole);
    std::move(point).add_to(result);
  }
}

void add_gaps(const Timeline& timeline, std::span<const profiler::BusyLane> devices,
              const harness::Parameters& of_run, ExperimentResult& result) {
  for (const profiler::OpPairGaps& pair : profiler::gaps_by_ops(timeline, devices)) {
    LogPoint point(of_run, "before", timeline.names.name(pair.before));
    point.parameter("after", timeline.names.name(pair.after));
    point.time("idle_time", pair.idle);
    point.count("gaps", pair.count);
    std::move(point).add_to(result);
  }
}

void add_sections(const Timeline& timeline, const harness::Parameters& of_run,
                  ExperimentResult& result) {
  const auto groups = group_programs(timeline, &profiler::ProgramRun::section);
  if (groups.size() < 2) return;
  for (const OpGroup& group : groups) {
    const std::string_view name = timeline.names.name(group.name);
    LogPoint point(of_run, "section", name.empty() ? "(before the first)" : name);
    point.time("time", group.time);
    point.count("runs", group.runs);
    std::move(point).add_to(result);
  }
}

void add_zones(const LoggedRun& run, const harness::Parameters& of_run, ExperimentResult& result) {
  for (const profiler::OpZones& op : profiler::zones_by_op(run)) {
    for (const profiler::ZoneTime& zone : op.zones) {
      LogPoint point(of_run, "op", run.timeline.names.name(op.name));
      point.parameter("risc", zone.risc);
      point.parameter("zone", zone.zone);
      point.time("time", zone.time);
      point.add("entries", zone.entries, "count");
      if (zone.entries > 0) point.add("mean_time", zone.time.seconds() / zone.entries, "s");
      point.time("longest_time", zone.longest);
      std::move(point).add_to(result);
    }
  }
}

void add_host_ops(const LoggedRun& run, const harness::Parameters& of_run,
                  ExperimentResult& result) {
  for (const profiler::HostOp& op : run.host_ops) {
    LogPoint point(of_run, "op", run.timeline.names.name(op.name));
    point.parameter("type", op.type);
    point.time("time", op.time);
    point.count("runs", op.calls);
    std::move(point).add_to(result);
  }
}

}  // namespace

std::vector<ExperimentResult> log_results(const profiler::Log& log, const std::string& name,
                                          harness::RunContext context) {
  std::ranges::move(warnings_of(log), std::back_inserter(context.warnings));
  using enum harness::CommandResult;
  const auto result_of = [&](harness::CommandResult kind) {
    return ExperimentResult{.experiment = name_of(kind), .context = context, .points = {}};
  };
  ExperimentResult devices = result_of(log_devices), ops = result_of(log_ops),
                   gaps = result_of(log_gaps), sections = result_of(log_sections),
                   zones = result_of(log_zones), host_ops = result_of(log_host_ops);
  for (std::size_t i = 0; i < log.runs.size(); ++i) {
    const LoggedRun& run = log.runs[i];
    const harness::Parameters of_run{{"log", name}, {"run", std::to_string(i + 1)}};
    const auto lanes = profiler::find_gaps(run.timeline, profiler::LaneKind::device);
    add_devices(run, lanes, of_run, devices);
    add_ops(run.timeline, of_run, ops);
    add_gaps(run.timeline, lanes, of_run, gaps);
    add_sections(run.timeline, of_run, sections);
    add_zones(run, of_run, zones);
    add_host_ops(run, of_run, host_ops);
  }
  std::vector<ExperimentResult> results;
  for (ExperimentResult* const result : {&devices, &ops, &gaps, &sections, &zones, &host_ops}) {
    if (!result->points.empty()) results.push_back(std::move(*result));
  }
  return results;
}

}  // namespace howard::reports
