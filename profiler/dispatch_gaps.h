// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// Why nothing ran. Each moment of a gap belongs to what then held up the program that ends it:
///
///   call begins ... call ends ... dispatch starts ... dispatch ends ... kernel starts
///   |---- host's doing ----|-- dispatcher's doing --|-- dispatch --|-- cores' doing --|
enum class GapCause : std::uint8_t {
  host_issuing,     ///< The host had not made the call yet, or was in it.
  queue_full,       ///< As above, and the host was held by a full issue queue.
  finish,           ///< As above, and the host was in a finish.
  transfer,         ///< As above, and the host was reading or writing a buffer.
  profiler,         ///< The host or the cores were busy with being measured.
  event_wait,       ///< The dispatcher waited for an event.
  dispatcher_held,  ///< The dispatcher had the command and did nothing: its rings were full.
  dispatch,         ///< The program, or one before it in its queue, was being dispatched.
  cores_busy,       ///< Dispatched, and its cores still ran a program (of another queue).
  go_latency,       ///< Dispatched and the cores free: the go signal, and the first core's start.
  launch,           ///< Issued; the log does not tell dispatch and go latency apart.
  between_calls,    ///< A real host had not begun the call: it was busy with something else.
  compile,          ///< A real host was in the call, which had to compile the program.
  unknown,          ///< The log holds nothing that could tell.
};
inline constexpr std::size_t kGapCauses = 14;

/// "host issuing", "issue queue full", "finish", "transfer", "profiler", "event wait",
/// "dispatcher held", "dispatch", "cores busy", "go latency", "launch", "between calls", "compile",
/// "unknown".
std::string_view name_of(GapCause cause);

/// Time by cause.
class CauseTimes {
 public:
  SimTime& operator[](GapCause cause) { return times_[static_cast<std::size_t>(cause)]; }
  SimTime operator[](GapCause cause) const { return times_[static_cast<std::size_t>(cause)]; }
  CauseTimes& operator+=(const CauseTimes& other);
  SimTime total() const;

 private:
  std::array<SimTime, kGapCauses> times_{};
};

/// A time in which no program of a lane ran, between two that did.
struct Gap {
  Span span;
  std::uint32_t before = 0;  ///< The program that ended last, as an index into the timeline.
  std::uint32_t after = 0;   ///< The program that ends the gap.
};

/// tt-metal's "OP TO OP LATENCY": this start minus the previous end, by start on one device. It is
/// negative where programs overlap, so its sum is not the time in which nothing ran.
struct OpToOp {
  std::uint64_t count = 0;
  std::uint64_t negative = 0;
  SimTime total;
  SimTime negative_total;  ///< Of the negative ones: zero or less.
};

/// What is looked at as one thing that either runs a program or does not.
enum class LaneKind : std::uint8_t { device, queue, sub_device };

struct BusyLane {
  std::uint16_t device = 0;
  std::uint16_t index = 0;  ///< Of the queue or the sub-device; 0 for a device.
  std::uint32_t programs = 0;
  Span span;              ///< From the lane's first program's start to its last one's end.
  SimTime busy;           ///< At least one program ran: the union of their spans.
  SimTime idle;           ///< busy + idle is the span's duration, exactly.
  SimTime program_time;   ///< Of all programs added up: not less than `busy`.
  OpToOp op_to_op;        ///< Between the lane's programs.
  CauseTimes causes;      ///< Of all gaps: add up to `idle`, exactly.
  std::vector<Gap> gaps;  ///< In order, none empty; their durations add up to `idle`.
  /// By gap; none where the log holds nothing that could tell: a million gaps would hold zeros.
  std::vector<CauseTimes> gap_causes;

  /// Of one gap: add up to its duration, exactly.
  CauseTimes causes_of(std::size_t gap) const;
};

/// The gaps of each queue, sub-device or device, by device and index. Needs a timeline without
/// defects (`defects_of`) of fewer than 2^32 programs.
std::vector<BusyLane> find_gaps(const Timeline& timeline, LaneKind kind);

/// The idle time of some lanes by cause.
CauseTimes time_by_cause(std::span<const BusyLane> lanes);

/// The gaps between two ops: what the first one's successor costs.
struct OpPairGaps {
  NameId before = 0;
  NameId after = 0;
  std::uint64_t count = 0;
  SimTime idle;
  CauseTimes causes;
};

/// The largest total first; equal ones by the names' numbers.
std::vector<OpPairGaps> gaps_by_ops(const Timeline& timeline, std::span<const BusyLane> lanes);

/// Gaps of at least `low` and less than `high`.
struct GapBin {
  SimTime low;
  SimTime high;
  std::uint64_t count = 0;
  SimTime idle;
};

/// Bins at 1, 2 and 5 times each power of ten, from the shortest gap's to the longest's, empty ones
/// in between included. No gaps: no bins.
std::vector<GapBin> gap_histogram(std::span<const BusyLane> lanes);

/// The gaps as the report (part 3) defines them: the programs of a device in the order of their
/// starts, gap_i = max(0, start_{i+1} - end_i), whichever queue or sub-device they are of. Programs
/// that run at the same time are counted twice in `busy`, and hide no gap of another sub-device.
struct SequentialGaps {
  std::uint64_t programs = 0;
  std::uint64_t gaps = 0;  ///< One between each two programs of a device, those of length 0 too.
  SimTime idle;
  SimTime busy;  ///< The programs' durations added up.
  SimTime wall;  ///< First start to last end, of each device.

  /// idle / (idle + busy), the report's "overhead"; absent without programs that took time.
  std::optional<double> share() const;
  /// Adds another stream: a run that was measured for itself.
  SequentialGaps& operator+=(const SequentialGaps& other);
};
/// Of all devices of a run.
SequentialGaps sequential_gaps(std::span<const BusyLane> devices);

/// Of all devices of a run.
OpToOp op_to_op(std::span<const BusyLane> devices);

}  // namespace howard::profiler
