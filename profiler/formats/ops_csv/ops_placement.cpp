// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_csv/ops_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/large_pages.h"

namespace howard::profiler {
namespace {

/// Holds the kernels of consecutive ops whose distances are known, and where the first one may
/// begin. A kernel lies within its firmware: `slack` is what the firmware takes longer, and the
/// kernel begins `offset` after it, 0 <= offset <= slack. The op-to-op times tell how the offsets
/// differ, so that one unknown is left for all, and the bounds of all narrow it.
class PlacedChain {
 public:
  void begin(SimTime slack) {
    low_ = SimTime();
    high_ = slack;
    difference_ = SimTime();
    size_ = 1;
  }

  /// Appends an op whose offset is `step` more than that of the op before; false when the bounds
  /// do not allow it, and the chain ends.
  bool append(SimTime step, SimTime slack) {
    const SimTime difference = difference_ + step;
    const SimTime low = std::max(low_, SimTime() - difference);
    const SimTime high = std::min(high_, slack - difference);
    if (low > high) return false;
    low_ = low;
    high_ = high;
    difference_ = difference;
    ++size_;
    return true;
  }

  std::size_t size() const { return size_; }
  /// Returns the first op's offset: the middle of what is possible.
  SimTime offset() const { return SimTime::picoseconds((low_.ps() + high_.ps()) / 2); }
  /// Returns how much more the latest op's offset is.
  SimTime difference() const { return difference_; }

 private:
  SimTime low_, high_, difference_;
  std::size_t size_ = 0;
};

/// Returns what rounding and the clock's drift explain: a thousandth, not a hundredth.
SimTime tolerance(SimTime time) {
  return SimTime::nanoseconds(2) + SimTime::picoseconds(time.ps() / 100);
}

bool disagree(SimTime by_cycles, SimTime by_column) {
  const std::int64_t difference = std::abs((by_cycles - by_column).ps());
  return difference > tolerance(by_column).ps();
}

/// Keeps the op that ends last of those so far, and what ran while it did.
class Longest {
 public:
  explicit Longest(const PlacedDevice& device) : device_(device) {}

  /// Takes the next op by start; true when it contradicts the one that ends last, on cores that
  /// this one has: when it is the second that lies wholly within that one, or begins well before
  /// that one's end and outlasts it. That one can then not have taken so long.
  /// Its kernel begins at `latest`, at the latest: where all of the firmware's time comes before
  /// it.
  bool contradicted_by(const LoggedOp& op, SimTime start, SimTime end, SimTime latest) {
    if (start >= end_ || op.sub_device != op_.sub_device) return false;
    if (end >= end_) {
      // The cores' clocks differ a little, and a tenth of a kernel is no contradiction.
      constexpr SimTime kSkew = SimTime::microseconds(10);
      const SimTime both = end_ - latest;
      return shares_cores(op.cores) && both > kSkew && 10 * both > end_ - start_;
    }
    ++within_;
    most_cores_ = std::max(most_cores_, op.cores);
    return within_ == 2 && shares_cores(most_cores_);
  }
  /// Keeps the op if it ends last.
  void keep(const LoggedOp& op, SimTime start, SimTime end, std::size_t index) {
    if (end < end_ && index > 0) return;
    op_ = {.line = op.line, .name = op.name, .cores = op.cores, .sub_device = op.sub_device};
    start_ = start;
    end_ = end;
    index_ = index;
    within_ = 0;
    most_cores_ = 0;
  }

  struct Op {
    std::uint64_t line;
    NameId name;
    std::uint16_t cores;
    std::uint16_t sub_device;
  };

  const Op& op() const { return op_; }
  std::size_t index() const { return index_; }
  void forget() { end_ = SimTime::picoseconds(std::numeric_limits<std::int64_t>::min()); }

 private:
  bool shares_cores(std::uint16_t cores) const {
    if (device_.knows_sub_devices) return true;
    return op_.cores > 0 && cores > 0 && device_.worker_cores > 0 &&
           op_.cores + cores > device_.worker_cores;
  }

  const PlacedDevice& device_;
  Op op_{};
  SimTime start_;
  SimTime end_ = SimTime::picoseconds(std::numeric_limits<std::int64_t>::min());
  std::size_t index_ = 0;
  int within_ = 0;
  std::uint16_t most_cores_ = 0;
};

/// Finds the runs that took so much longer than the other runs of their call that they waited for
/// something else, or were measured wrongly.
class FarRuns {
 public:
  explicit FarRuns(const LoggedOps& ops) {
    std::vector<Extremes> extremes;
    for_each_call(ops, [&](const LoggedOp& op) {
      if (op.call >= extremes.size()) extremes.resize(op.call + 1);
      Extremes& of_call = extremes[op.call];
      of_call.shortest = of_call.runs == 0 ? op.kernel : std::min(of_call.shortest, op.kernel);
      of_call.longest = std::max(of_call.longest, op.kernel);
      ++of_call.runs;
    });
    for (std::uint32_t call = 0; call < extremes.size(); ++call) {
      const Extremes& of_call = extremes[call];
      constexpr std::size_t kFewest = 4;
      if (of_call.runs < kFewest || of_call.longest <= kFar * of_call.shortest) continue;
      std::vector<SimTime> times;
      for_each_call(ops, [&](const LoggedOp& op) {
        if (op.call == call) times.push_back(op.kernel);
      });
      const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
      std::ranges::nth_element(times, middle);
      limits_[call] = kFar * *middle;
    }
  }

  bool has(const LoggedOp& op) const {
    if (limits_.empty()) return false;
    const auto found = limits_.find(op.call);
    return found != limits_.end() && op.kernel > found->second;
  }

 private:
  struct Extremes {
    std::size_t runs = 0;
    SimTime shortest, longest;
  };
  static constexpr std::int64_t kFar = 1'000;

  template <class Take>
  static void for_each_call(const LoggedOps& ops, const Take& take) {
    for (const std::vector<LoggedOp>& piece : ops) {
      for (const LoggedOp& op : piece) {
        if (op.call != 0) take(op);
      }
    }
  }

  std::map<std::uint32_t, SimTime> limits_;  ///< Of the calls that have such runs.
};

class Placement {
 public:
  Placement(const PlacedDevice& device, LoggedRun& run, Log& log, const LoggedOps& ops)
      : device_(device), run_(run), log_(log), longest_(device), far_(ops) {}

  void place(const LoggedOp& op) {
    ++number_;
    if (repeats_last(op)) return drop(op, "the row repeats another one");
    last_ = op;
    if (far_.has(op)) {
      return drop(op, "DEVICE KERNEL DURATION [ns] is a thousand times the median of its call");
    }
    const bool says_firmware = op.firmware != LoggedOp::kUnsaid;
    const SimTime start = device_.knows_starts ? time_of_cycles(op.start, device_.clock) : reached_;
    const SimTime firmware = op.cycles >= 0  ? time_of_cycles(op.cycles, device_.clock)
                             : says_firmware ? op.firmware
                                             : op.kernel;
    if (says_firmware && device_.knows_starts && disagree(firmware, op.firmware)) {
      return drop(op, "DEVICE FW DURATION [ns] is not what its cycles are (a counter overflowed?)");
    }
    if (op.kernel > firmware + tolerance(firmware)) {
      return drop(op, "DEVICE KERNEL DURATION [ns] is longer than the firmware ran");
    }
    const SimTime slack = std::max(SimTime(), firmware - op.kernel);
    if (longest_.contradicted_by(op, start, start + op.kernel, start + slack)) {
      impossible_.push_back(longest_.index());
      drop(longest_.op(),
           "DEVICE KERNEL DURATION [ns] is impossible: later programs ran on its "
           "cores before its end");
      longest_.forget();
    }
    longest_.keep(op, start, start + op.kernel, programs().size());
    append(op, start, slack);
  }

  void end() {
    end_chain();
    if (contradictions_ > 0) {
      log_.notes.push_back(fmt::format(
          "device {}: {} of OP TO OP LATENCY [ns] are negative where the cycles say that nothing "
          "overlapped, first on line {}: the cycles are believed",
          device_.id, contradictions_, first_contradiction_));
    }
    if (spanning_ > 0) {
      log_.notes.push_back(fmt::format(
          "device {}: {} of OP TO OP LATENCY [ns] are longer than the device had nothing to do, "
          "first on line {}: they span other programs, and the cycles are believed",
          device_.id, spanning_, first_spanning_));
    }
    if (impossible_.empty()) return;
    std::ranges::sort(impossible_);
    remove_impossible(programs());
    if (device_.keeps_host_ids) remove_impossible(run_.host_ids);
  }

 private:
  std::vector<ProgramRun>& programs() { return run_.timeline.programs; }

  template <class Entry>
  void remove_impossible(std::vector<Entry>& entries) const {
    std::size_t kept = impossible_.front();
    auto next = impossible_.begin();
    for (std::size_t i = kept; i < entries.size(); ++i) {
      if (next != impossible_.end() && *next == i) {
        ++next;
      } else {
        entries[kept++] = entries[i];
      }
    }
    entries.resize(kept);
  }

  template <class Op>
  void drop(const Op& op, std::string_view reason) {
    const std::string_view name = run_.timeline.names.name(op.name);
    log_.dropped.add_of(name, reason, op.line, name);
    ++run_.timeline.losses;
  }

  /// Says whether a row is in the file twice: no device starts a call twice in one cycle.
  bool repeats_last(const LoggedOp& op) const {
    if (!last_ || op.host_id == 0 || op.name != last_->name) return false;
    if (op.kernel != last_->kernel) return false;
    if (op.host_id != last_->host_id || op.sub_device != last_->sub_device) return false;
    if (op.trace != last_->trace || op.replay != last_->replay) return false;
    return !device_.knows_starts || op.start == last_->start;
  }

  bool is_believed(const LoggedOp& op, SimTime start, SimTime slack) {
    if (op.op_to_op == LoggedOp::kUnsaid) return false;
    const SimTime most = start + slack - reached_;
    if (device_.knows_starts && op.op_to_op > most + tolerance(op.op_to_op)) {
      if (spanning_++ == 0) first_spanning_ = op.line;
      return false;
    }
    if (op.op_to_op >= SimTime() || start < firmware_end_) return true;
    if (contradictions_++ == 0) first_contradiction_ = op.line;
    return false;
  }

  void append(const LoggedOp& op, SimTime start, SimTime slack) {
    const bool follows = chain_.size() > 0 && is_believed(op, start, slack) &&
                         chain_.append(op.op_to_op - (start - reached_), slack);
    if (!follows) {
      end_chain();
      chain_.begin(slack);
    }
    reached_ = start + op.kernel;
    firmware_end_ = reached_ + slack;
    // It is written where it belongs, because GCC 12 makes a temporary in words and copies it in
    // larger ones, for which the processor waits.
    static const ProgramRun kEmpty;
    ProgramRun& program = programs().emplace_back(kEmpty);
    program.number = number_;
    program.name = op.name;
    program.section = op.section;
    program.trace = op.trace;
    program.replay = op.replay;
    program.call = op.call;
    program.cores = op.cores;
    program.compiled = op.compiled;
    program.ran_before = op.ran_before;
    program.device = device_.id;
    program.sub_device = op.sub_device;
    program.kernel.start = start + chain_.difference();
    program.kernel.end = reached_ + chain_.difference();
    if (device_.keeps_host_ids) run_.host_ids.push_back(op.host_id);
    if (op.host_start == LoggedOp::kNoHost) return;
    const SimTime called = SimTime::nanoseconds(op.host_start - device_.host_origin);
    program.host_call = {called, called + SimTime::nanoseconds(op.host_time)};
  }

  void end_chain() {
    for (ProgramRun& program : std::span(programs()).last(chain_.size())) {
      program.kernel.start += chain_.offset();
      program.kernel.end += chain_.offset();
    }
  }

  const PlacedDevice& device_;
  LoggedRun& run_;
  Log& log_;
  Longest longest_;
  FarRuns far_;
  std::optional<LoggedOp> last_;
  PlacedChain chain_;
  std::uint64_t number_ = 0;
  SimTime reached_;       ///< The latest kernel's end, were there no offsets.
  SimTime firmware_end_;  ///< The latest op's.
  std::vector<std::size_t> impossible_;
  std::size_t contradictions_ = 0;
  std::uint64_t first_contradiction_ = 0;
  std::size_t spanning_ = 0;
  std::uint64_t first_spanning_ = 0;
};

}  // namespace

void place_kernels(LoggedOps& ops, const PlacedDevice& device, LoggedRun& run, Log& log) {
  Placement placement(device, run, log, ops);
  for (std::vector<LoggedOp>& piece : ops) {
    for (const LoggedOp& op : piece) placement.place(op);
    std::vector<LoggedOp>().swap(piece);
  }
  placement.end();
}

}  // namespace howard::profiler
