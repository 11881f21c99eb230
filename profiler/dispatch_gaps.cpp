// SPDX-License-Identifier: Apache-2.0
#include "profiler/dispatch_gaps.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/large_pages.h"
#include "profiler/gap_causes.h"

namespace howard::profiler {
namespace {

using Index = std::uint32_t;

std::uint16_t lane_index(const ProgramRun& program, LaneKind kind) {
  switch (kind) {
    case LaneKind::device:
      return 0;
    case LaneKind::queue:
      return program.queue;
    case LaneKind::sub_device:
      return program.sub_device;
  }
  return 0;
}

using LaneKey = std::pair<std::uint16_t, std::uint16_t>;  // device, index

/// Returns the programs of each lane by start. Those that start together keep the order of the
/// timeline.
std::map<LaneKey, std::vector<Index>> programs_by_lane(const Timeline& timeline, LaneKind kind) {
  std::map<LaneKey, std::vector<Index>> lanes;
  auto lane = lanes.end();  // of the program before, because most programs are of the same lane
  for (std::size_t i = 0; i < timeline.programs.size(); ++i) {
    const ProgramRun& program = timeline.programs[i];
    const LaneKey key{program.device, lane_index(program, kind)};
    if (lane == lanes.end() || lane->first != key) lane = lanes.try_emplace(key).first;
    lane->second.push_back(static_cast<Index>(i));
  }
  const auto start = [&](Index i) { return timeline.programs[i].kernel.start; };
  for (auto& [key, programs] : lanes) {
    if (!std::ranges::is_sorted(programs, {}, start)) {
      std::ranges::stable_sort(programs, {}, start);
    }
  }
  return lanes;
}

void add_latency(SimTime latency, OpToOp& sum) {
  ++sum.count;
  sum.total += latency;
  if (latency >= SimTime()) return;
  ++sum.negative;
  sum.negative_total += latency;
}

BusyLane lane_of(const LaneKey& key, const std::vector<Index>& order, const Timeline& timeline,
                 const GapCauses& causes) {
  const auto program = [&](Index i) -> const ProgramRun& { return timeline.programs[i]; };
  BusyLane lane{.device = key.first,
                .index = key.second,
                .programs = static_cast<std::uint32_t>(order.size()),
                .span = program(order.front()).kernel,
                .busy = program(order.front()).kernel.duration()};
  lane.gaps.reserve(order.size() - 1);
  prefer_large_pages(lane.gaps);
  Index last = order.front();  // the one that ends last so far
  SimTime previous_end;
  for (const Index i : order) {
    const Span& kernel = program(i).kernel;
    if (i != order.front()) add_latency(kernel.start - previous_end, lane.op_to_op);
    previous_end = kernel.end;
    if (kernel.start > lane.span.end) {
      const Span gap{lane.span.end, kernel.start};
      lane.idle += gap.duration();
      Gap& added = lane.gaps.emplace_back();
      added.span.start = gap.start;
      added.span.end = gap.end;
      added.before = last;
      added.after = i;
      if (causes.can_tell()) {
        lane.causes += lane.gap_causes.emplace_back(causes.explain(gap, program(last), program(i)));
      }
    }
    // A program that runs beside an earlier one only adds the time beyond that one's end.
    if (kernel.end > lane.span.end) {
      lane.busy += kernel.end - std::max(kernel.start, lane.span.end);
      lane.span.end = kernel.end;
      last = i;
    }
    lane.program_time += kernel.duration();
  }
  if (!causes.can_tell()) lane.causes[GapCause::unknown] = lane.idle;
  return lane;
}

/// These are 1, 2 and 5 times each power of ten picoseconds, and the end of time.
constexpr auto kBinBounds = [] {
  constexpr int kDecades = 19;  // 5 * 10^18 is the last value that fits 63 bits
  std::array<std::int64_t, 3 * kDecades + 1> bounds{};
  std::int64_t power = 1;
  for (std::size_t decade = 0; decade < kDecades; ++decade) {
    bounds[3 * decade] = power;
    bounds[3 * decade + 1] = 2 * power;
    bounds[3 * decade + 2] = 5 * power;
    if (decade + 1 < kDecades) power *= 10;
  }
  bounds.back() = std::numeric_limits<std::int64_t>::max();
  return bounds;
}();

std::size_t bin_of(SimTime duration) {
  const auto above =
      std::ranges::upper_bound(kBinBounds.begin(), kBinBounds.end() - 1, duration.ps());
  return static_cast<std::size_t>(above - kBinBounds.begin()) - 1;
}

template <class Visitor>
void for_each_gap(std::span<const BusyLane> lanes, const Visitor& visit) {
  for (const BusyLane& lane : lanes) {
    for (const Gap& gap : lane.gaps) visit(gap);
  }
}

}  // namespace

std::string_view name_of(GapCause cause) {
  switch (cause) {
    case GapCause::host_issuing:
      return "host issuing";
    case GapCause::queue_full:
      return "issue queue full";
    case GapCause::finish:
      return "finish";
    case GapCause::transfer:
      return "transfer";
    case GapCause::profiler:
      return "profiler";
    case GapCause::event_wait:
      return "event wait";
    case GapCause::dispatcher_held:
      return "dispatcher held";
    case GapCause::dispatch:
      return "dispatch";
    case GapCause::cores_busy:
      return "cores busy";
    case GapCause::go_latency:
      return "go latency";
    case GapCause::launch:
      return "launch";
    case GapCause::between_calls:
      return "between calls";
    case GapCause::compile:
      return "compile";
    case GapCause::unknown:
      return "unknown";
  }
  return "";
}

CauseTimes& CauseTimes::operator+=(const CauseTimes& other) {
  for (std::size_t i = 0; i < times_.size(); ++i) times_[i] += other.times_[i];
  return *this;
}

SimTime CauseTimes::total() const {
  SimTime sum;
  for (const SimTime time : times_) sum += time;
  return sum;
}

CauseTimes BusyLane::causes_of(std::size_t gap) const {
  if (!gap_causes.empty()) return gap_causes[gap];
  CauseTimes unknown;
  unknown[GapCause::unknown] = gaps[gap].span.duration();
  return unknown;
}

std::vector<BusyLane> find_gaps(const Timeline& timeline, LaneKind kind) {
  const GapCauses causes(timeline);
  std::vector<BusyLane> lanes;
  for (const auto& [key, programs] : programs_by_lane(timeline, kind)) {
    lanes.push_back(lane_of(key, programs, timeline, causes));
  }
  return lanes;
}

CauseTimes time_by_cause(std::span<const BusyLane> lanes) {
  CauseTimes causes;
  for (const BusyLane& lane : lanes) causes += lane.causes;
  return causes;
}

std::vector<OpPairGaps> gaps_by_ops(const Timeline& timeline, std::span<const BusyLane> lanes) {
  std::unordered_map<std::uint64_t, OpPairGaps> by_pair;
  for (const BusyLane& lane : lanes) {
    for (std::size_t i = 0; i < lane.gaps.size(); ++i) {
      const Gap& gap = lane.gaps[i];
      const NameId before = timeline.programs[gap.before].name;
      const NameId after = timeline.programs[gap.after].name;
      OpPairGaps& pair = by_pair[std::uint64_t{before} << 32 | after];
      pair.before = before;
      pair.after = after;
      ++pair.count;
      pair.idle += gap.span.duration();
      if (lane.gap_causes.empty()) {
        pair.causes[GapCause::unknown] += gap.span.duration();
      } else {
        pair.causes += lane.gap_causes[i];
      }
    }
  }
  std::vector<OpPairGaps> pairs;
  pairs.reserve(by_pair.size());
  for (const auto& [key, pair] : by_pair) pairs.push_back(pair);
  std::ranges::sort(pairs, [](const OpPairGaps& a, const OpPairGaps& b) {
    return std::tie(b.idle, a.before, a.after) < std::tie(a.idle, b.before, b.after);
  });
  return pairs;
}

std::vector<GapBin> gap_histogram(std::span<const BusyLane> lanes) {
  std::array<GapBin, kBinBounds.size() - 1> all{};
  for_each_gap(lanes, [&](const Gap& gap) {
    GapBin& bin = all[bin_of(gap.span.duration())];
    ++bin.count;
    bin.idle += gap.span.duration();
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].low = SimTime::picoseconds(kBinBounds[i]);
    all[i].high = SimTime::picoseconds(kBinBounds[i + 1]);
  }
  const auto is_filled = [](const GapBin& bin) { return bin.count > 0; };
  const auto first = std::ranges::find_if(all, is_filled);
  const auto last = std::find_if(all.rbegin(), std::make_reverse_iterator(first), is_filled);
  return {first, last.base()};
}

std::optional<double> SequentialGaps::share() const {
  const double all = idle.seconds() + busy.seconds();
  return all > 0 ? std::optional(idle.seconds() / all) : std::nullopt;
}

SequentialGaps& SequentialGaps::operator+=(const SequentialGaps& other) {
  programs += other.programs;
  gaps += other.gaps;
  idle += other.idle;
  busy += other.busy;
  wall += other.wall;
  return *this;
}

SequentialGaps sequential_gaps(std::span<const BusyLane> devices) {
  SequentialGaps sum;
  for (const BusyLane& device : devices) {
    sum += {.programs = device.programs,
            .gaps = device.op_to_op.count,
            .idle = device.op_to_op.total - device.op_to_op.negative_total,
            .busy = device.program_time,
            .wall = device.span.duration()};
  }
  return sum;
}

OpToOp op_to_op(std::span<const BusyLane> devices) {
  OpToOp sum;
  for (const BusyLane& device : devices) {
    sum.count += device.op_to_op.count;
    sum.negative += device.op_to_op.negative;
    sum.total += device.op_to_op.total;
    sum.negative_total += device.op_to_op.negative_total;
  }
  return sum;
}

}  // namespace howard::profiler
