// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_csv/ops_host_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

namespace howard::profiler {
namespace {

/// Removes the calls of replays whose programs were called before what already ran: these repeat
/// the times of their capture.
void remove_calls_of_captures(std::span<ProgramRun> programs) {
  SimTime latest = SimTime::picoseconds(std::numeric_limits<std::int64_t>::min());
  for (ProgramRun& program : programs) {
    if (!program.host_call) continue;
    const SimTime called = program.host_call->start;
    if (program.replay > 0 && called < latest) {
      program.host_call.reset();
    } else {
      latest = std::max(latest, called);
    }
  }
}

/// Returns a pair of each few programs: among neighbours, the one that started soonest after its
/// call says most.
std::vector<ClockPair> clock_pairs(std::span<const ProgramRun> programs) {
  constexpr std::size_t kMostPairs = 16'384;
  const std::size_t block = programs.size() / kMostPairs + 1;
  std::vector<ClockPair> pairs;
  for (std::size_t first = 0; first < programs.size(); first += block) {
    std::optional<ClockPair> soonest;
    for (const ProgramRun& program :
         programs.subspan(first, std::min(block, programs.size() - first))) {
      if (!program.host_call) continue;
      const ClockPair pair{program.host_call->start, program.kernel.start};
      if (!soonest || pair.device - pair.host < soonest->device - soonest->host) soonest = pair;
    }
    if (soonest) pairs.push_back(*soonest);
  }
  return pairs;
}

/// Holds the moment at which a call must have been made, because a program began that the device
/// had waited for: how far it lies above the line of the clocks, in picoseconds.
struct Knot {
  SimTime host;
  double late;
};

/// Finds how far the clocks depart from the line, because they do not run at one rate for a whole
/// log (a busy chip lowers its own). It is read off the programs that ended an idle time longer
/// than any dispatch takes. One that was late for another reason stands above its neighbours and is
/// left out.
std::vector<Knot> find_knots(std::span<const ProgramRun> programs, const ClockAlignment& line) {
  constexpr SimTime kLongerThanDispatch = SimTime::microseconds(10);
  std::vector<Knot> knots;
  SimTime reached = programs.front().kernel.end;
  for (const ProgramRun& program : programs.subspan(1)) {
    const bool waited = program.kernel.start - reached > kLongerThanDispatch;
    reached = std::max(reached, program.kernel.end);
    if (!waited || !program.host_call) continue;
    const SimTime called = line.device_time(program.host_call->start);
    knots.push_back(
        {program.host_call->start, static_cast<double>((program.kernel.start - called).ps())});
  }
  std::ranges::stable_sort(knots, {}, &Knot::host);
  // Rates differ by a few percent at the most, and starts after a call by some ten microseconds.
  constexpr double kMostLateDrift = 0.02;
  constexpr double kJitter = 20e6;
  const auto limit = [&](Knot& knot, const Knot& other) {
    const auto apart = std::abs(static_cast<double>((knot.host - other.host).ps()));
    knot.late = std::min(knot.late, other.late + kMostLateDrift * apart);
  };
  std::vector<Knot> lowest = knots;
  for (std::size_t i = 1; i < lowest.size(); ++i) limit(lowest[i], lowest[i - 1]);
  for (std::size_t i = lowest.size(); i-- > 1;) limit(lowest[i - 1], lowest[i]);
  std::vector<Knot> kept;
  for (std::size_t i = 0; i < knots.size(); ++i) {
    if (knots[i].late <= lowest[i].late + kJitter) kept.push_back(lowest[i]);
  }
  return kept;
}

/// Returns the alignment of a host whose clock, counted from `nanoseconds`, is that of the device;
/// absent if it is another one.
std::optional<ClockAlignment> one_clock(std::span<const ClockPair> pairs,
                                        std::int64_t nanoseconds) {
  constexpr std::int64_t kTenDays = 1'000'000'000'000'000;  // a counter wraps after some hours
  if (nanoseconds < -kTenDays || nanoseconds > kTenDays) return std::nullopt;
  const SimTime host_origin = SimTime::nanoseconds(nanoseconds);
  constexpr SimTime kRounding = SimTime::nanoseconds(1);  // of times and of cycles in the file
  constexpr SimTime kSoon = SimTime::nanoseconds(1'000'000);
  const auto late = [&](const ClockPair& pair) { return pair.device - (pair.host + host_origin); };
  const SimTime soonest = late(*std::ranges::min_element(pairs, {}, late));
  if (soonest < SimTime() - kRounding || soonest > kSoon) return std::nullopt;
  return ClockAlignment{.host_origin = SimTime(),
                        .device_origin = host_origin,
                        .rate = 1,
                        .uncertainty = kRounding,
                        .pairs = pairs.size()};
}

/// Aligns the clocks of a device and of its host, to the picosecond of the nearest knots.
class AlignedClocks {
 public:
  AlignedClocks(const ClockAlignment& line, std::vector<Knot> knots)
      : line_(line), knots_(std::move(knots)) {}

  /// `time` must not be before that of an earlier call by much: knots are looked for onwards.
  SimTime device_time(SimTime time) {
    const SimTime on_line = line_.device_time(time);
    if (knots_.empty()) return on_line;
    while (next_ < knots_.size() && knots_[next_].host <= time) ++next_;
    while (next_ > 0 && knots_[next_ - 1].host > time) --next_;
    double late = 0;
    if (next_ == 0 || next_ == knots_.size()) {
      late = next_ == 0 ? knots_.front().late : knots_.back().late;
    } else {
      const Knot& a = knots_[next_ - 1];
      const Knot& b = knots_[next_];
      const double part =
          static_cast<double>((time - a.host).ps()) / static_cast<double>((b.host - a.host).ps());
      late = a.late + part * (b.late - a.late);
    }
    return on_line + SimTime::picoseconds(std::llround(late));
  }

  /// Returns the median of how far a knot lies from where its neighbours would have it.
  SimTime uncertainty() const {
    std::vector<double> apart;
    for (std::size_t i = 1; i + 1 < knots_.size(); ++i) {
      apart.push_back(std::abs(knots_[i].late - (knots_[i - 1].late + knots_[i + 1].late) / 2));
    }
    if (apart.empty()) return line_.uncertainty;
    const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
    std::ranges::nth_element(apart, middle);
    return SimTime::picoseconds(std::llround(*middle));
  }

 private:
  ClockAlignment line_;
  std::vector<Knot> knots_;
  std::size_t next_ = 0;
};

/// Returns the least time from the start of a call to that of its program. A program is sent when
/// its call has been made, and reaches its cores no sooner than an empty program of one core.
SimTime least_latency(std::span<const ProgramRun> programs) {
  constexpr SimTime kEmptyProgram = SimTime::nanoseconds(2'500);  // tt-metal's dispatch goldens
  std::optional<SimTime> shortest;
  for (const ProgramRun& program : programs) {
    if (!program.host_call) continue;
    const SimTime took = program.host_call->duration();
    if (!shortest || took < *shortest) shortest = took;
  }
  return shortest.value_or(SimTime()) + kEmptyProgram;
}

}  // namespace

void align_host_times(std::span<ProgramRun> programs, std::int64_t host_origin,
                      LoggedDevice& device, std::vector<std::string>& notes) {
  remove_calls_of_captures(programs);
  const std::vector<ClockPair> pairs = clock_pairs(programs);
  if (pairs.empty()) return;
  device.host_clock = one_clock(pairs, host_origin);
  const bool is_one = device.host_clock.has_value();
  if (!is_one) device.host_clock = align_clocks(pairs);
  if (!device.host_clock) {
    notes.push_back(fmt::format(
        "device {}: the host's times do not fit the device's cycles ({}), so that what the host "
        "did in a gap is not known",
        device.id,
        pairs.size() < 3 ? "there are fewer than three"
                         : "programs would start before their calls"));
  }
  if (!device.host_clock) {
    for (ProgramRun& program : programs) program.host_call.reset();
    return;
  }
  AlignedClocks clocks(*device.host_clock,
                       is_one ? std::vector<Knot>() : find_knots(programs, *device.host_clock));
  if (!is_one) {
    device.host_clock->uncertainty = clocks.uncertainty();
    device.host_clock->assumed_latency = least_latency(programs);
  }
  const SimTime earlier = device.host_clock->assumed_latency;
  for (ProgramRun& program : programs) {
    if (!program.host_call) continue;
    const SimTime called = program.host_call->start;
    const SimTime took = program.host_call->duration();
    const SimTime start = std::min(clocks.device_time(called) - earlier, program.kernel.start);
    program.host_call = {start, std::min(start + took, program.kernel.start)};
  }
}

}  // namespace howard::profiler
