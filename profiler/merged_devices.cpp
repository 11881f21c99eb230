// SPDX-License-Identifier: Apache-2.0
#include "profiler/merged_devices.h"

#include "profiler/median.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

namespace howard::profiler {
namespace {

/// Returns the start of each device's first program that all devices have.
std::map<std::uint16_t, SimTime> origins_of(const std::map<NameId, DeviceRuns>& runs,
                                            std::size_t devices) {
  std::map<std::uint16_t, SimTime> origins;
  for (const auto& [name, by_device] : runs) {
    if (by_device.size() < devices) continue;
    for (const auto& [device, list] : by_device) {
      const auto [found, is_new] = origins.try_emplace(device, list.front()->kernel.start);
      if (!is_new) found->second = std::min(found->second, list.front()->kernel.start);
    }
  }
  return origins;
}

}  // namespace

bool is_collective(std::string_view name) {
  constexpr std::array<std::string_view, 7> kWords{"AllGather",    "AllReduce",    "ReduceScatter",
                                                   "AllToAll",     "AllBroadcast", "PointToPoint",
                                                   "MeshPartition"};
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  // The parts of a norm before and after its exchange have the exchange in their names.
  if (has("PreAllGather") || has("PostAllGather")) return false;
  return std::ranges::any_of(kWords, has);
}

std::map<NameId, DeviceRuns> runs_by_op(const Timeline& timeline) {
  std::vector<const ProgramRun*> ordered;
  ordered.reserve(timeline.programs.size());
  for (const ProgramRun& program : timeline.programs) ordered.push_back(&program);
  std::ranges::stable_sort(ordered, {}, [](const ProgramRun* run) { return run->kernel.start; });
  std::map<NameId, DeviceRuns> runs;
  for (const ProgramRun* const run : ordered) runs[run->name][run->device].push_back(run);
  return runs;
}

MergedDevices merge_devices(const Timeline& timeline, bool knows_starts) {
  MergedDevices merged;
  std::set<std::uint16_t> ids;
  for (const ProgramRun& program : timeline.programs) ids.insert(program.device);
  merged.devices = ids.size();
  if (ids.size() < 2) return merged;
  const auto runs = runs_by_op(timeline);
  const auto origins = origins_of(runs, ids.size());
  std::vector<SimTime> skews;
  for (const auto& [name, by_device] : runs) {
    std::size_t common = by_device.size() < ids.size() ? 0 : by_device.begin()->second.size();
    for (const auto& [device, list] : by_device) common = std::min(common, list.size());
    for (const auto& [device, list] : by_device) merged.unmatched += list.size() - common;
    if (common == 0) continue;
    MergedOp op{
        .name = name, .runs = common, .collective = is_collective(timeline.names.name(name))};
    for (std::size_t k = 0; k < common; ++k) {
      SimTime sum, longest, first, last;
      SimTime shortest = by_device.begin()->second[k]->kernel.duration();
      bool any = false;
      for (const auto& [device, list] : by_device) {
        const SimTime time = list[k]->kernel.duration();
        const SimTime since = list[k]->kernel.start - origins.at(device);
        sum += time;
        longest = std::max(longest, time);
        shortest = std::min(shortest, time);
        first = any ? std::min(first, since) : since;
        last = any ? std::max(last, since) : since;
        any = true;
      }
      const auto devices = static_cast<std::int64_t>(ids.size());
      op.time += op.collective ? SimTime::picoseconds(sum.ps() / devices) : longest;
      op.shortest += shortest;
      if (!knows_starts) continue;
      op.worst_skew = std::max(op.worst_skew, last - first);
      skews.push_back(last - first);
    }
    merged.time += op.time;
    merged.ops.push_back(op);
  }
  std::ranges::stable_sort(merged.ops, std::greater(), &MergedOp::time);
  if (skews.empty()) return merged;
  merged.worst_skew = *std::ranges::max_element(skews);
  merged.median_skew = median(std::move(skews));
  return merged;
}

}  // namespace howard::profiler
