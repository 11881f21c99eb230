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

/// Says why nothing ran. Each moment of a gap belongs to what held up the program that ends it:
///
///      call begins ... call ends ... dispatch starts ... dispatch ends ... kernel starts
///   ---|-- host's doing --|-- dispatcher's doing --|-- dispatch --|-- cores' doing --|
///
/// The rule is the same for emulated runs, for traces and for logs of real hardware, which leave
/// out what they do not know.
enum class GapCause : std::uint8_t {
  host_issuing,     ///< The host was inside the call.
  queue_full,       ///< Like host_issuing, but a full issue queue held the host.
  finish,           ///< Like between_calls, but the host was in a finish.
  transfer,         ///< Like between_calls, but the host was reading or writing a buffer.
  profiler,         ///< The host or the cores were busy with being measured.
  event_wait,       ///< The dispatcher waited for an event.
  dispatcher_held,  ///< The dispatcher had the command and did nothing: its rings were full.
  dispatch,         ///< The program, or one before it in its queue, was being dispatched.
  cores_busy,       ///< Dispatched, and its cores still ran a program (of another queue).
  go_latency,       ///< Dispatched and the cores free: the go signal, and the first core's start.
  launch,           ///< Issued; the log does not tell dispatch and go latency apart.
  between_calls,    ///< The host had not begun the call: its caller was busy with something else.
  compile,          ///< Like host_issuing, but the call had to compile the program.
  unknown,          ///< The log holds nothing that could tell.
};
inline constexpr std::size_t kGapCauses = 14;

/// Returns "host issuing", "issue queue full", "finish", "transfer", "profiler", "event wait",
/// "dispatcher held", "dispatch", "cores busy", "go latency", "launch", "between calls", "compile"
/// or "unknown".
std::string_view name_of(GapCause cause);

/// Holds times by cause.
class CauseTimes {
 public:
  SimTime& operator[](GapCause cause) { return times_[static_cast<std::size_t>(cause)]; }
  SimTime operator[](GapCause cause) const { return times_[static_cast<std::size_t>(cause)]; }
  CauseTimes& operator+=(const CauseTimes& other);
  SimTime total() const;

 private:
  std::array<SimTime, kGapCauses> times_{};
};

/// Describes a time in which no program of a lane ran, between two that did.
struct Gap {
  Span span;
  std::uint32_t before = 0;  ///< The program that ended last, as an index into the timeline.
  std::uint32_t after = 0;   ///< The program that ends the gap.
};

/// Holds tt-metal's "OP TO OP LATENCY": this start minus the previous end, by start on one device.
/// It is negative if programs overlap, so its sum is not the time in which nothing ran.
struct OpToOp {
  std::uint64_t count = 0;
  std::uint64_t negative = 0;
  SimTime total;
  SimTime negative_total;  ///< The sum of the negative ones: zero or less.
};

/// Says what counts as one thing that either runs a program or does not.
enum class LaneKind : std::uint8_t { device, queue, sub_device };

struct BusyLane {
  std::uint16_t device = 0;
  std::uint16_t index = 0;  ///< The number of the queue or the sub-device; 0 for a device.
  std::uint32_t programs = 0;
  Span span;              ///< The time from the first program's start to the last one's end.
  SimTime busy;           ///< The time in which at least one program ran: the union of their spans.
  SimTime idle;           ///< busy + idle is the span's duration, exactly.
  SimTime program_time;   ///< The sum over all programs: not less than `busy`.
  OpToOp op_to_op;        ///< The times between the lane's programs.
  CauseTimes causes;      ///< The causes of all gaps; they add up to `idle`, exactly.
  std::vector<Gap> gaps;  ///< They are in order, none empty; their durations add up to `idle`.
  /// The causes of each gap; empty if the log holds nothing that could tell, because a million gaps
  /// would hold zeros.
  std::vector<CauseTimes> gap_causes;

  /// Returns the causes of one gap, which add up to its duration, exactly.
  CauseTimes causes_of(std::size_t gap) const;
};

/// Returns the gaps of each queue, sub-device or device, by device and index. It needs a timeline
/// without defects (`defects_of`) of fewer than 2^32 programs.
std::vector<BusyLane> find_gaps(const Timeline& timeline, LaneKind kind);

/// Returns the idle time of some lanes by cause.
CauseTimes time_by_cause(std::span<const BusyLane> lanes);

/// Holds the gaps between two ops: what the second one costs after the first.
struct OpPairGaps {
  NameId before = 0;
  NameId after = 0;
  std::uint64_t count = 0;
  SimTime idle;
  CauseTimes causes;
};

/// Returns them with the largest total first; equal ones are sorted by the names' numbers.
std::vector<OpPairGaps> gaps_by_ops(const Timeline& timeline, std::span<const BusyLane> lanes);

/// Counts the gaps of at least `low` and less than `high`.
struct GapBin {
  SimTime low;
  SimTime high;
  std::uint64_t count = 0;
  SimTime idle;
};

/// Returns bins at 1, 2 and 5 times each power of ten, from the shortest gap's to the longest's,
/// including empty ones in between. Without gaps there are no bins.
std::vector<GapBin> gap_histogram(std::span<const BusyLane> lanes);

/// Holds the gaps as the report (part 3) defines them. It takes the programs of a device in the
/// order of their starts, on whichever queue or sub-device, with gap_i = max(0, start_{i+1} -
/// end_i). Programs that run at the same time are counted twice in `busy`, and they hide no gap of
/// another sub-device.
struct SequentialGaps {
  std::uint64_t programs = 0;
  /// There is one between each two programs of a device, including those of length 0.
  std::uint64_t gaps = 0;
  SimTime idle;
  SimTime busy;  ///< The sum of the programs' durations.
  SimTime wall;  ///< The time from the first start to the last end of each device.

  /// Returns idle / (idle + busy), which the report calls "overhead"; absent if no program took
  /// time.
  std::optional<double> share() const;
  /// Adds another stream: a run that was measured by itself.
  SequentialGaps& operator+=(const SequentialGaps& other);
};
/// Returns the gaps of all devices of a run.
SequentialGaps sequential_gaps(std::span<const BusyLane> devices);

/// Returns the latencies of all devices of a run.
OpToOp op_to_op(std::span<const BusyLane> devices);

}  // namespace howard::profiler
