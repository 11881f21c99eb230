// SPDX-License-Identifier: Apache-2.0
#include "profiler/dispatch_gaps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/profiler/random_timeline.h"

namespace howard::profiler {
namespace {

using testing::kRandomEnd;
using testing::picoseconds;
using testing::random_timeline;

constexpr std::uint32_t kSeeds = 400;

const BusyLane& only(const std::vector<BusyLane>& lanes) {
  EXPECT_EQ(lanes.size(), 1U);
  return lanes.at(0);
}

/// Returns the non-zero causes of the only gap of a timeline with one sub-device.
std::map<GapCause, std::int64_t> causes_of(const CauseTimes& causes) {
  std::map<GapCause, std::int64_t> found;
  for (std::size_t i = 0; i < kGapCauses; ++i) {
    const auto cause = static_cast<GapCause>(i);
    if (causes[cause] != SimTime()) found[cause] = causes[cause].ps();
  }
  return found;
}

using Causes = std::map<GapCause, std::int64_t>;

/// A program runs until 100 and the next one from 200 on; `parts` is what happened between them.
struct OneGap {
  ProgramRun before{.number = 1, .kernel = picoseconds(0, 100)};
  ProgramRun after{.number = 2, .kernel = picoseconds(200, 300)};
  std::vector<ProgramRun> others;
  std::vector<Activity> activities;

  Causes causes(LaneKind kind = LaneKind::sub_device) const {
    Timeline timeline;
    timeline.programs = {after, before};
    timeline.programs.insert(timeline.programs.end(), others.begin(), others.end());
    timeline.activities = activities;
    const std::vector<BusyLane> lanes = find_gaps(timeline, kind);
    EXPECT_EQ(lanes.at(0).gaps.size(), 1U);
    const Gap& gap = lanes.at(0).gaps.at(0);
    EXPECT_EQ(gap.span.start.ps(), 100);
    EXPECT_EQ(gap.span.end.ps(), 200);
    EXPECT_EQ(gap.before, 1U);
    EXPECT_EQ(gap.after, 0U);
    return causes_of(lanes.at(0).causes_of(0));
  }
};

Activity on_host(Occupation occupation, std::int64_t start, std::int64_t end) {
  return {.occupation = occupation, .span = picoseconds(start, end)};
}

TEST(GapCauses, FollowTheProgramThatEndsTheGap) {
  OneGap gap;
  gap.after.host_call = picoseconds(120, 140);
  gap.after.dispatch = picoseconds(150, 190);
  EXPECT_EQ(gap.causes(), (Causes{{GapCause::between_calls, 20},
                                  {GapCause::host_issuing, 20},
                                  {GapCause::dispatcher_held, 10},
                                  {GapCause::dispatch, 40},
                                  {GapCause::go_latency, 10}}));
}

TEST(GapCauses, ACallThatCompilesItsProgramIsNotJustIssued) {
  OneGap gap;
  gap.after.host_call = picoseconds(120, 170);
  gap.after.compiled = true;
  gap.after.dispatch = picoseconds(170, 200);
  EXPECT_EQ(
      gap.causes(),
      (Causes{{GapCause::between_calls, 20}, {GapCause::compile, 50}, {GapCause::dispatch, 30}}));
}

TEST(GapCauses, AreTheGoLatencyWhenTheProgramWasReadyBefore) {
  OneGap gap;
  gap.after.host_call = picoseconds(0, 10);
  gap.after.dispatch = picoseconds(10, 20);
  EXPECT_EQ(gap.causes(), (Causes{{GapCause::go_latency, 100}}));
}

TEST(GapCauses, OfAHostThatDoesNotIssueAreWhatItDoesInstead) {
  OneGap gap;
  gap.after.host_call = picoseconds(150, 190);
  gap.after.dispatch = picoseconds(190, 200);
  gap.activities = {on_host(Occupation::finish, 50, 110), on_host(Occupation::transfer, 110, 130),
                    on_host(Occupation::profiler, 130, 145),
                    on_host(Occupation::queue_full, 160, 190)};
  EXPECT_EQ(gap.causes(), (Causes{{GapCause::finish, 10},
                                  {GapCause::transfer, 20},
                                  {GapCause::profiler, 15},
                                  {GapCause::between_calls, 5},
                                  {GapCause::host_issuing, 10},
                                  {GapCause::queue_full, 30},
                                  {GapCause::dispatch, 10}}));
}

TEST(GapCauses, OfNestedActivitiesAreTheInnerOnes) {
  OneGap gap;
  gap.after.host_call = picoseconds(190, 200);
  gap.activities = {on_host(Occupation::transfer, 100, 190), on_host(Occupation::finish, 110, 150),
                    on_host(Occupation::profiler, 120, 121)};
  EXPECT_EQ(gap.causes(), (Causes{{GapCause::transfer, 50},
                                  {GapCause::finish, 39},
                                  {GapCause::profiler, 1},
                                  {GapCause::host_issuing, 10}}));
}

TEST(GapCauses, DoNotBlameAnotherThreadOrDevice) {
  OneGap gap;
  gap.after.host_call = picoseconds(190, 200);
  gap.after.host_thread = 1;
  gap.activities = {on_host(Occupation::transfer, 100, 190)};
  EXPECT_EQ(gap.causes(), (Causes{{GapCause::between_calls, 90}, {GapCause::host_issuing, 10}}));
  gap.after.host_call = picoseconds(0, 10);
  gap.activities = {{.occupation = Occupation::profiler,
                     .place = TrackKind::sub_device,
                     .device = 1,
                     .span = picoseconds(100, 190)}};
  EXPECT_EQ(gap.causes(), (Causes{{GapCause::launch, 100}}));
}

TEST(GapCauses, OfAnIssuedProgramAreItsDispatchersDoing) {
  OneGap gap;
  gap.after.host_call = picoseconds(0, 10);
  gap.after.dispatch = picoseconds(180, 200);
  gap.activities = {{.occupation = Occupation::event_wait,
                     .place = TrackKind::dispatcher,
                     .span = picoseconds(90, 120)}};
  gap.others = {{.sub_device = 1,  // it is of the same queue, and its dispatch came first
                 .kernel = picoseconds(170, 400),
                 .dispatch = picoseconds(130, 150)}};
  EXPECT_EQ(gap.causes(), (Causes{{GapCause::event_wait, 20},
                                  {GapCause::dispatcher_held, 40},
                                  {GapCause::dispatch, 40}}));
}

TEST(GapCauses, OfAQueueMayBeAnotherQueuesProgramOnTheSameCores) {
  OneGap gap;
  gap.after.host_call = picoseconds(0, 10);
  gap.after.dispatch = picoseconds(80, 90);
  gap.others = {{.queue = 1, .kernel = picoseconds(50, 170)}};
  gap.activities = {{.occupation = Occupation::profiler,
                     .place = TrackKind::sub_device,
                     .span = picoseconds(160, 180)}};
  EXPECT_EQ(
      gap.causes(LaneKind::queue),
      (Causes{{GapCause::cores_busy, 70}, {GapCause::profiler, 10}, {GapCause::go_latency, 20}}));
}

TEST(GapCauses, AreUnknownWhereTheLogHoldsNothing) {
  OneGap gap;
  gap.activities = {on_host(Occupation::finish, 100, 190)};
  EXPECT_EQ(gap.causes(), (Causes{{GapCause::unknown, 100}}));
  gap.after.dispatch = picoseconds(160, 190);
  EXPECT_EQ(
      gap.causes(),
      (Causes{{GapCause::unknown, 60}, {GapCause::dispatch, 30}, {GapCause::go_latency, 10}}));
}

TEST(GapCauses, WithinAReplayAreNotTheHosts) {
  OneGap gap;
  gap.before.replay = gap.after.replay = 1;
  EXPECT_EQ(gap.causes(), (Causes{{GapCause::launch, 100}}));
  gap.before.replay = 2;
  EXPECT_EQ(gap.causes(), (Causes{{GapCause::unknown, 100}}));
  gap.before.replay = 1;
  gap.before.trace = 7;
  EXPECT_EQ(gap.causes(), (Causes{{GapCause::unknown, 100}}))
      << "the first replay of another trace";
}

// The following run the whole analysis on timelines of a few picoseconds and compare it with an
// oracle that looks at each.

using LaneId = std::pair<std::uint16_t, std::uint16_t>;

LaneId lane_id(const ProgramRun& program, LaneKind kind) {
  if (kind == LaneKind::device) return {program.device, 0};
  return {program.device, kind == LaneKind::queue ? program.queue : program.sub_device};
}

bool covers(const Span& span, std::int64_t moment) {
  return span.start.ps() <= moment && moment < span.end.ps();
}

/// The shortest activity of a place at `moment` is the innermost; of equal ones it is the last.
const Activity* activity_at(const Timeline& timeline, TrackKind place, std::uint16_t device,
                            std::uint16_t index, std::int64_t moment) {
  const Activity* found = nullptr;
  for (const Activity& activity : timeline.activities) {
    const bool here = activity.place == place && activity.index == index &&
                      (place == TrackKind::host_thread || activity.device == device);
    if (!here || !covers(activity.span, moment)) continue;
    if (found == nullptr || activity.span.duration() <= found->span.duration()) found = &activity;
  }
  return found;
}

GapCause host_cause_at(const Timeline& timeline, const ProgramRun& after, std::int64_t moment) {
  const Activity* const activity =
      activity_at(timeline, TrackKind::host_thread, 0, after.host_thread, moment);
  if (activity == nullptr) {
    const bool called = moment >= after.host_call->start.ps();
    return called ? GapCause::host_issuing : GapCause::between_calls;
  }
  switch (activity->occupation) {
    case Occupation::finish:
      return GapCause::finish;
    case Occupation::transfer:
      return GapCause::transfer;
    case Occupation::queue_full:
      return GapCause::queue_full;
    default:
      return GapCause::profiler;
  }
}

GapCause cause_at(const Timeline& timeline, const ProgramRun& before, const ProgramRun& after,
                  std::int64_t moment) {
  if (after.host_call && moment < after.host_call->end.ps()) {
    return host_cause_at(timeline, after, moment);
  }
  const auto any = [&](auto predicate) {
    return std::ranges::any_of(timeline.programs, predicate);
  };
  const bool replayed = after.replay != 0 && before.replay == after.replay;
  const bool issued = after.host_call || replayed;
  if (after.dispatch && moment < after.dispatch->start.ps()) {
    if (activity_at(timeline, TrackKind::dispatcher, after.device, after.queue, moment)) {
      return GapCause::event_wait;
    }
    const bool dispatching = any([&](const ProgramRun& other) {
      return other.device == after.device && other.queue == after.queue && other.dispatch &&
             covers(*other.dispatch, moment);
    });
    if (dispatching) return GapCause::dispatch;
    return issued ? GapCause::dispatcher_held : GapCause::unknown;
  }
  if (after.dispatch && moment < after.dispatch->end.ps()) return GapCause::dispatch;
  const bool busy = any([&](const ProgramRun& other) {
    return other.device == after.device && other.sub_device == after.sub_device &&
           covers(other.kernel, moment);
  });
  if (busy && (issued || after.dispatch)) return GapCause::cores_busy;
  if (activity_at(timeline, TrackKind::sub_device, after.device, after.sub_device, moment)) {
    return GapCause::profiler;
  }
  if (after.dispatch) return GapCause::go_latency;
  return issued ? GapCause::launch : GapCause::unknown;
}

/// Checks one lane, moment by moment.
void expect_lane(const Timeline& timeline, LaneKind kind, const BusyLane& lane) {
  std::vector<std::size_t> programs;
  for (std::size_t i = 0; i < timeline.programs.size(); ++i) {
    if (lane_id(timeline.programs[i], kind) == LaneId{lane.device, lane.index})
      programs.push_back(i);
  }
  EXPECT_EQ(lane.programs, programs.size());
  std::int64_t busy = 0;
  std::int64_t idle = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::map<GapCause, std::int64_t>> expected;
  for (std::int64_t moment = lane.span.start.ps(); moment < lane.span.end.ps(); ++moment) {
    const ProgramRun* before = nullptr;
    const ProgramRun* after = nullptr;
    bool running = false;
    for (const std::size_t i : programs) {
      const ProgramRun& program = timeline.programs[i];
      const Span& kernel = program.kernel;
      if (covers(kernel, moment)) running = true;
      if (kernel.end.ps() <= moment &&
          (before == nullptr || std::tuple(before->kernel.end, kernel.start) <
                                    std::tuple(kernel.end, before->kernel.start))) {
        before = &program;
      }
      if (kernel.start.ps() > moment && (after == nullptr || kernel.start < after->kernel.start)) {
        after = &program;
      }
    }
    (running ? busy : idle) += 1;
    if (running) continue;
    ASSERT_TRUE(before != nullptr && after != nullptr) << "idle outside of the lane's programs";
    const auto index = [&](const ProgramRun* program) {
      return static_cast<std::size_t>(program - timeline.programs.data());
    };
    ++expected[{index(before), index(after)}][cause_at(timeline, *before, *after, moment)];
  }
  EXPECT_EQ(lane.busy.ps(), busy);
  EXPECT_EQ(lane.idle.ps(), idle);
  std::map<std::pair<std::size_t, std::size_t>, std::map<GapCause, std::int64_t>> found;
  for (std::size_t i = 0; i < lane.gaps.size(); ++i) {
    found[{lane.gaps[i].before, lane.gaps[i].after}] = causes_of(lane.causes_of(i));
  }
  EXPECT_EQ(found, expected);
}

class RandomTimelines : public ::testing::TestWithParam<LaneKind> {};

TEST_P(RandomTimelines, HaveTheGapsAndCausesOfEveryMoment) {
  std::set<GapCause> seen;
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Timeline timeline = random_timeline(seed);
    std::set<LaneId> expected;
    for (const ProgramRun& program : timeline.programs)
      expected.insert(lane_id(program, GetParam()));
    std::set<LaneId> found;
    for (const BusyLane& lane : find_gaps(timeline, GetParam())) {
      found.insert({lane.device, lane.index});
      expect_lane(timeline, GetParam(), lane);
      for (const auto& [cause, time] : causes_of(time_by_cause({&lane, 1}))) seen.insert(cause);
    }
    EXPECT_EQ(found, expected);
    if (HasFailure()) break;
  }
  // A lane whose programs all run on the same cores never waits for them. Only the log of a real
  // host tells what it compiled.
  const bool cores_shared = GetParam() == LaneKind::queue;
  constexpr std::size_t kOfRealHosts = 1;
  EXPECT_EQ(seen.size(), kGapCauses - kOfRealHosts - (cores_shared ? 0 : 1));
}

TEST_P(RandomTimelines, HaveBusyAndIdleTimesThatAddUp) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    for (const BusyLane& lane : find_gaps(random_timeline(seed), GetParam())) {
      EXPECT_EQ(lane.busy + lane.idle, lane.span.duration());
      EXPECT_LE(lane.busy, lane.program_time);
      SimTime idle;
      SimTime end = lane.span.start;
      for (std::size_t i = 0; i < lane.gaps.size(); ++i) {
        const Gap& gap = lane.gaps[i];
        EXPECT_GE(gap.span.start, end);
        EXPECT_GT(gap.span.duration(), SimTime());
        EXPECT_EQ(lane.causes_of(i).total(), gap.span.duration());
        idle += gap.span.duration();
        end = gap.span.end;
      }
      EXPECT_EQ(idle, lane.idle);
    }
  }
}

TEST_P(RandomTimelines, HaveTotalsThatAddUpToTheirGaps) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Timeline timeline = random_timeline(seed);
    for (const BusyLane& lane : find_gaps(timeline, GetParam())) {
      SimTime by_pair;
      SimTime by_bin;
      std::uint64_t count = 0;
      CauseTimes causes;
      SimTime least = lane.idle;
      for (const OpPairGaps& pair : gaps_by_ops(timeline, {&lane, 1})) {
        EXPECT_LE(pair.idle, least) << "the largest first";
        least = pair.idle;
        EXPECT_EQ(pair.causes.total(), pair.idle);
        by_pair += pair.idle;
        causes += pair.causes;
        count += pair.count;
      }
      EXPECT_EQ(by_pair, lane.idle);
      EXPECT_EQ(count, lane.gaps.size());
      EXPECT_EQ(causes_of(causes), causes_of(time_by_cause({&lane, 1})));
      for (const GapBin& bin : gap_histogram({&lane, 1})) {
        EXPECT_LE(bin.low * static_cast<std::int64_t>(bin.count), bin.idle);
        EXPECT_GE(bin.high * static_cast<std::int64_t>(bin.count), bin.idle);
        by_bin += bin.idle;
        count -= bin.count;
      }
      EXPECT_EQ(by_bin, lane.idle);
      EXPECT_EQ(count, 0U);
    }
  }
}

std::string lane_name(const ::testing::TestParamInfo<LaneKind>& kind) {
  if (kind.param == LaneKind::device) return "Device";
  return kind.param == LaneKind::queue ? "Queue" : "SubDevice";
}

INSTANTIATE_TEST_SUITE_P(OfEach, RandomTimelines,
                         ::testing::Values(LaneKind::device, LaneKind::queue, LaneKind::sub_device),
                         lane_name);

Timeline programs(const std::vector<Span>& kernels) {
  Timeline timeline;
  for (const Span& kernel : kernels) timeline.programs.push_back({.kernel = kernel});
  return timeline;
}

TEST(Gaps, OfALongProgramAreNotHiddenByAShortOneWithinIt) {
  const Timeline timeline =
      programs({picoseconds(0, 100), picoseconds(10, 20), picoseconds(130, 140)});
  const std::vector<BusyLane> lanes = find_gaps(timeline, LaneKind::device);
  ASSERT_EQ(only(lanes).gaps.size(), 1U);
  EXPECT_EQ(only(lanes).idle.ps(), 30);
  EXPECT_EQ(only(lanes).gaps[0].before, 0U);
  // By the report's definition the gap begins where the short one ended.
  EXPECT_EQ(sequential_gaps(lanes).idle.ps(), 110);
  EXPECT_EQ(only(lanes).op_to_op.negative_total.ps(), -90);
}

TEST(Gaps, OfNoProgramsAreNone) {
  const Timeline timeline;
  EXPECT_TRUE(find_gaps(timeline, LaneKind::queue).empty());
  EXPECT_TRUE(gap_histogram({}).empty());
  EXPECT_EQ(sequential_gaps({}).share(), std::nullopt);
}

TEST(GapHistogram, HasBinsAtOneTwoAndFive) {
  Timeline timeline = programs({picoseconds(0, 1), picoseconds(2, 3), picoseconds(13, 14),
                                picoseconds(33, 34), picoseconds(53, 54)});  // 1, 10, 19, 19
  const std::vector<BusyLane> lanes = find_gaps(timeline, LaneKind::device);
  const std::vector<GapBin> bins = gap_histogram(lanes);
  std::vector<std::tuple<std::int64_t, std::int64_t, std::uint64_t>> found;
  for (const GapBin& bin : bins) found.emplace_back(bin.low.ps(), bin.high.ps(), bin.count);
  const std::vector<std::tuple<std::int64_t, std::int64_t, std::uint64_t>> expected{
      {1, 2, 1}, {2, 5, 0}, {5, 10, 0}, {10, 20, 3}};
  EXPECT_EQ(found, expected);
}

TEST(GapHistogram, HasAPlaceForTheLongestTime) {
  const SimTime end = SimTime::picoseconds(std::numeric_limits<std::int64_t>::max());
  const Timeline timeline = programs({picoseconds(0, 1), {end, end}});
  const std::vector<BusyLane> lanes = find_gaps(timeline, LaneKind::device);
  const std::vector<GapBin> bins = gap_histogram(lanes);
  ASSERT_EQ(bins.size(), 1U);
  EXPECT_EQ(bins[0].high, end);
}

TEST(SequentialGaps, AreTheReports) {
  Timeline timeline = programs({picoseconds(100, 150), picoseconds(0, 40), picoseconds(40, 60)});
  timeline.programs.push_back({.device = 1, .kernel = picoseconds(0, 10)});
  const std::vector<BusyLane> devices = find_gaps(timeline, LaneKind::device);
  SequentialGaps gaps = sequential_gaps(devices);
  EXPECT_EQ(gaps.programs, 4U);
  EXPECT_EQ(gaps.gaps, 2U);
  EXPECT_EQ(gaps.idle.ps(), 40);
  EXPECT_EQ(gaps.busy.ps(), 120);
  EXPECT_EQ(gaps.wall.ps(), 160);
  EXPECT_DOUBLE_EQ(gaps.share().value(), 0.25);
  EXPECT_EQ(op_to_op(devices).count, 2U);
  EXPECT_EQ(op_to_op(devices).negative, 0U) << "one of them is zero";
  EXPECT_EQ(op_to_op(devices).total.ps(), 40);
  gaps += gaps;
  EXPECT_EQ(gaps.gaps, 4U);
  EXPECT_EQ(gaps.idle.ps(), 80);
  EXPECT_DOUBLE_EQ(gaps.share().value(), 0.25);
}

}  // namespace
}  // namespace howard::profiler
