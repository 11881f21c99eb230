// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/host_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace howard::profiler {

std::string us(SimTime time) { return fmt::format("{:.2f} us", time.seconds() * 1e6); }

namespace {

SimTime middle_of(std::vector<SimTime> times) {
  if (times.empty()) return {};
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

/// Holds a gap that the host had a part in.
struct HostGap {
  SimTime gap, host;
  bool first = false;     ///< The program behind it ran for the first time.
  bool compiled = false;  ///< The log says that it was compiled.
};

struct HostGaps {
  std::vector<HostGap> gaps;
  std::vector<SimTime> launches;  ///< Gaps that it had no part in.
};

HostGaps host_gaps(const std::vector<ProgramRun>& programs, const BusyLane& lane) {
  HostGaps found;
  std::set<std::tuple<std::uint32_t, NameId>> seen;
  const auto is_first = [&](const ProgramRun& program) {
    const bool is_new = seen.insert({program.call, program.name}).second;
    return is_new && !program.ran_before && program.replay == 0;
  };
  if (!lane.gaps.empty()) is_first(programs[lane.gaps.front().before]);
  for (std::size_t i = 0; i < lane.gaps.size(); ++i) {
    const Gap& gap = lane.gaps[i];
    const CauseTimes causes = lane.causes_of(i);
    const SimTime host = causes[GapCause::between_calls] + causes[GapCause::host_issuing] +
                         causes[GapCause::compile];
    const SimTime length = gap.span.duration();
    if (causes[GapCause::launch] == length) found.launches.push_back(length);
    const ProgramRun& after = programs[gap.after];
    const bool first = is_first(after);
    if (host > SimTime()) found.gaps.push_back({length, host, first, after.compiled});
  }
  return found;
}

}  // namespace

std::vector<LogFinding> host_findings(const std::vector<ProgramRun>& programs,
                                      const BusyLane& lane) {
  const HostGaps found = host_gaps(programs, lane);
  const SimTime floor = middle_of(found.launches);
  std::vector<SimTime> usual;
  for (const HostGap& gap : found.gaps) {
    if (!gap.first && !gap.compiled) usual.push_back(gap.gap);
  }
  constexpr std::int64_t kPause = 50;  // of the usual length: not the time of a call
  const SimTime pause = kPause * middle_of(usual);
  LogFinding first{.what = "keep the process and its program cache: first runs of programs",
                   .why = "the host was busy before programs that had not run yet",
                   .source = GainSource::at_most,
                   .once = true};
  LogFinding again{.what = "avoid recompilation: shapes or attributes that change",
                   .why = "PROGRAM CACHE HIT says so of programs that had run before",
                   .source = GainSource::at_most};
  LogFinding paused{.what = "shorten the host's pauses: reading results, preparing inputs",
                    .why = fmt::format("gaps of over {} times the usual one", kPause),
                    .source = GainSource::at_most};
  LogFinding steady{.what = "replay a trace (or make calls faster): the device waits for calls",
                    .why = floor > SimTime()
                               ? fmt::format("the calls came late; where they had come before, "
                                             "gaps take {}",
                                             us(floor))
                               : "the calls came late",
                    .source = floor > SimTime() ? GainSource::measured : GainSource::at_most};
  for (const HostGap& gap : found.gaps) {
    LogFinding& finding = gap.first         ? first
                          : gap.compiled    ? again
                          : gap.gap > pause ? paused
                                            : steady;
    ++finding.programs;
    finding.now += gap.gap;
    finding.gain += std::max(SimTime(), std::min(gap.host, gap.gap - floor));
  }
  return {std::move(first), std::move(again), std::move(paused), std::move(steady)};
}

}  // namespace howard::profiler
