// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/device_log/device_zones.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "profiler/formats/log.h"

namespace howard::profiler {
namespace {

const ProgramZones* zones_of(const LoggedRun& run, std::size_t program) {
  const std::pair wanted{run.timeline.programs[program].device, run.host_ids[program]};
  const auto key = [](const ProgramZones& zones) { return std::pair(zones.device, zones.host_id); };
  const auto found = std::ranges::lower_bound(run.zones, wanted, {}, key);
  return found != run.zones.end() && key(*found) == wanted ? &*found : nullptr;
}

SimTime mean_time(SimTime sum, std::uint64_t runs) {
  return SimTime::picoseconds(sum.ps() / static_cast<std::int64_t>(runs));
}

/// Adds one run of a program, of the mean length.
void add_mean_run(const ProgramZones& program, OpZones& op) {
  ++op.programs;
  op.time += mean_time(program.time, program.runs);
  for (const ZoneTime& zone : program.zones) {
    const auto key = [](const ZoneTime& other) { return std::tie(other.risc, other.zone); };
    auto found = std::ranges::lower_bound(op.zones, key(zone), {}, key);
    if (found == op.zones.end() || key(*found) != key(zone)) {
      op.means.insert(op.means.begin() + (found - op.zones.begin()), SimTime());
      found = op.zones.insert(found, {.risc = zone.risc, .zone = zone.zone});
    }
    op.means[static_cast<std::size_t>(found - op.zones.begin())] +=
        SimTime::picoseconds(static_cast<std::int64_t>(static_cast<double>(zone.time.ps()) /
                                                       std::max(zone.entries, 1.0)));
    found->entries += zone.entries / static_cast<double>(program.runs);
    found->time += mean_time(zone.time, program.runs);
    found->longest = std::max(found->longest, zone.longest);
  }
}

/// Returns how the kernels' times of two logs compare in the median; absent if no program is in
/// both.
std::optional<double> median_ratio(const LoggedRun& run) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < run.host_ids.size(); ++i) {
    const ProgramZones* const zones = zones_of(run, i);
    const SimTime time = run.timeline.programs[i].kernel.duration();
    if (zones == nullptr || time == SimTime()) continue;
    ratios.push_back(mean_time(zones->time, zones->runs).seconds() / time.seconds());
  }
  if (ratios.empty()) return std::nullopt;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::ranges::nth_element(ratios, middle);
  return *middle;
}

}  // namespace

std::vector<OpZones> zones_by_op(const LoggedRun& run) {
  std::map<NameId, OpZones> by_op;
  if (run.zones.empty()) return {};
  for (std::size_t i = 0; i < run.host_ids.size(); ++i) {
    const ProgramZones* const zones = zones_of(run, i);
    if (zones == nullptr) continue;
    OpZones& op = by_op[run.timeline.programs[i].name];
    op.name = run.timeline.programs[i].name;
    add_mean_run(*zones, op);
  }
  std::vector<OpZones> ops;
  for (auto& [name, op] : by_op) ops.push_back(std::move(op));
  std::ranges::stable_sort(ops, std::greater(), &OpZones::time);
  return ops;
}

void add_zones(Log& ops, Log device_log, const std::string& name) {
  std::size_t known = 0, programs = 0;
  for (std::size_t k = 0; k < ops.runs.size(); ++k) {
    LoggedRun& run = ops.runs[k];
    programs += run.host_ids.size();
    if (k >= device_log.runs.size()) continue;
    run.zones = std::move(device_log.runs[k].zones);
    run.cores = std::move(device_log.runs[k].cores);
    for (std::size_t i = 0; i < run.host_ids.size(); ++i) known += zones_of(run, i) != nullptr;
    constexpr double kMostApart = 0.2;  // the same run's are equal but for rounding
    const auto ratio = median_ratio(run);
    if (!ratio || (*ratio<1 + kMostApart&& * ratio> 1 - kMostApart)) continue;
    ops.notes.push_back(fmt::format(
        "the kernels of {} take {:.2f} times as long in the median: it is of another run", name,
        *ratio));
  }
  if (known == 0) {
    throw Error({.attempted = "find the programs of the log in " + name,
                 .value = "no run host ID of it is a GLOBAL CALL COUNT of the log",
                 .accepted = "the profile_log_device CSV of the same run"});
  }
  if (known < programs) {
    ops.notes.push_back(
        fmt::format("{} has zones of {} of the {} programs", name, known, programs));
  }
  for (const auto& reason : device_log.dropped.reasons()) {
    ops.notes.push_back(name + ": left out " + describe(reason));
  }
  for (const std::string& note : device_log.notes) ops.notes.push_back(name + ": " + note);
}

}  // namespace howard::profiler
