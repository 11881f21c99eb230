// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

#include "base/large_pages.h"

namespace howard::profiler {
namespace {

bool is_signpost(const OpRow& row) { return row.type == "signpost"; }

/// Returns whether its type or its times say that it ran on the device.
bool is_device_op(const OpRow& row) {
  return row.type == "tt_dnn_device" || row.kernel_time || row.firmware_start;
}

/// Returns the clock with which an architecture is shipped, for files that do not tell.
Frequency usual_clock(std::string_view architecture) {
  constexpr Frequency kWormhole(1'000'000'000);
  constexpr Frequency kBlackhole(1'350'000'000);
  return architecture == "blackhole" ? kBlackhole : kWormhole;
}

/// Places the kernels of consecutive ops whose distances are known. A kernel lies within its
/// firmware: `slack` is how much longer the firmware takes, and the kernel begins `offset` after
/// it, 0 <= offset <= slack. The op-to-op times tell how the offsets differ, so one unknown is left
/// for all of them, and the bounds of all narrow it.
class PlacedChain {
 public:
  void begin(SimTime slack) {
    low_ = SimTime();
    high_ = slack;
    difference_ = SimTime();
    size_ = 1;
  }

  /// Appends an op whose offset is `step` more than that of the op before. Returns false if the
  /// bounds do not allow it; the chain then ends.
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
  /// Returns the first op's offset, in the middle of what is possible.
  SimTime offset() const { return SimTime::picoseconds((low_.ps() + high_.ps()) / 2); }
  /// Returns how much larger the latest op's offset is.
  SimTime difference() const { return difference_; }

 private:
  SimTime low_, high_, difference_;
  std::size_t size_ = 0;
};

}  // namespace

void OpsTimelineBuilder::add(const OpRow& row) {
  if (is_signpost(row)) {
    section_ = run_.timeline.names.id(row.name);
  } else if (!is_device_op(row)) {
    add_host_op(row);
  } else if (!row.kernel_time || !row.firmware_start) {
    log_.dropped.add("a device op without device times", row.line, row.name);
    ++run_.timeline.losses;
  } else {
    add_device_op(row);
  }
}

void OpsTimelineBuilder::add_host_op(const OpRow& row) {
  const NameId name = run_.timeline.names.id(row.name);
  HostOp& op = host_ops_[{name, std::string(row.type)}];
  op.name = name;
  op.type = row.type;
  ++op.calls;
  op.time += row.host_time.value_or(SimTime());
}

bool OpsTimelineBuilder::begins_run(const OpRow& row) const {
  const auto found = devices_.find(row.device);
  if (found == devices_.end() || !row.call || row.replay) return false;
  const Device& device = found->second;
  return row.call == device.first_call && *row.firmware_start < device.last_cycle &&
         !CycleCounter::between(device.last_cycle, *row.firmware_start);
}

void OpsTimelineBuilder::add_device_op(const OpRow& row) {
  if (begins_run(row)) end_run();
  if (programs_ == kMostLoggedPrograms) {
    log_.dropped.add(fmt::format("beyond the first {} programs", kMostLoggedPrograms), row.line);
    ++run_.timeline.losses;
    return;
  }
  Device& device = devices_[row.device];
  std::int64_t cycles = -1;
  if (row.firmware_end) {
    const auto between = CycleCounter::between(*row.firmware_start, *row.firmware_end);
    if (!between) {
      log_.dropped.add("DEVICE FW END CYCLE is before DEVICE FW START CYCLE", row.line, row.name);
      ++run_.timeline.losses;
      return;
    }
    cycles = *between;
  }
  const auto start = device.counter.continued(*row.firmware_start);
  if (!start || cycles >= CycleCounter::kMost) {
    log_.dropped.add("DEVICE FW START CYCLE is out of range", row.line, row.name);
    ++run_.timeline.losses;
    return;
  }
  if (device.architecture.empty()) device.architecture = row.architecture;
  if (!device.first_call) device.first_call = row.call;
  device.last_cycle = *row.firmware_start;
  const auto number = [](std::optional<std::int64_t> cell) {
    const bool fits = cell && *cell > 0 && *cell <= std::numeric_limits<std::uint32_t>::max();
    return fits ? static_cast<std::uint32_t>(*cell) : 0;
  };
  Op& op = device.add_op();  // written in place and not copied: see place_kernels()
  op.start = *start;
  op.cycles = cycles;
  op.firmware = row.firmware_time.value_or(Op::kUnsaid);
  op.kernel = *row.kernel_time;
  op.op_to_op = row.op_to_op.value_or(Op::kUnsaid);
  op.line = row.line;
  op.name = run_.timeline.names.id(row.name);
  op.section = section_;
  op.trace = number(row.trace);
  op.replay = number(row.replay);
  device.add_clock(op);
  ++programs_;
}

namespace {

/// Returns the clock that turns cycles into nanoseconds, in whole MHz. It is the median of what the
/// rows say, because a damaged counter spoils a mean. 0 if no row says, or none that is believed.
Frequency median_clock(const std::map<std::int64_t, std::size_t>& clocks) {
  std::size_t rows = 0;
  for (const auto& [megahertz, count] : clocks) rows += count;
  std::size_t below = 0;
  for (const auto& [megahertz, count] : clocks) {
    below += count;
    if (below <= rows / 2) continue;
    const Frequency clock(megahertz * 1'000'000);
    return clock >= kSlowestClock && clock <= kFastestClock ? clock : Frequency();
  }
  return {};
}

/// Returns whether a firmware's time by its cycles and by its own column disagree. Rounding and the
/// clock's drift explain a difference of a thousandth, not one of a hundredth.
bool disagree(SimTime by_cycles, SimTime by_column) {
  const std::int64_t difference = std::abs((by_cycles - by_column).ps());
  return difference > SimTime::nanoseconds(2).ps() + by_column.ps() / 100;
}

}  // namespace

OpsTimelineBuilder::Op& OpsTimelineBuilder::Device::add_op() {
  constexpr std::size_t kFirst = 16, kLongest = 262'144;
  if (ops.empty() || ops.back().size() == ops.back().capacity()) {
    const std::size_t size = ops.empty() ? kFirst : std::min(kLongest, 4 * ops.back().size());
    ops.emplace_back().reserve(size);
    prefer_large_pages(ops.back());
  }
  return ops.back().emplace_back();
}

void OpsTimelineBuilder::Device::add_clock(const Op& op) {
  // Rounding to a nanosecond is too coarse for finding a clock if the firmware ran for less than
  // this.
  constexpr SimTime kLongEnough = SimTime::nanoseconds(1'000);
  if (op.firmware < kLongEnough || op.cycles <= 0) return;
  const double megahertz = static_cast<double>(op.cycles) / op.firmware.seconds() * 1e-6;
  // All values that are not believed count as one clock on their side, so that damage does not fill
  // the list.
  constexpr std::int64_t kMegahertz = 1'000'000;
  ++clocks[std::clamp<std::int64_t>(std::llround(megahertz), kSlowestClock.value() / kMegahertz - 1,
                                    kFastestClock.value() / kMegahertz + 1)];
}

void OpsTimelineBuilder::end_run() {
  std::size_t programs = 0;
  for (const auto& [id, device] : devices_) {
    for (const std::vector<Op>& ops : device.ops) programs += ops.size();
  }
  run_.timeline.programs.reserve(programs);
  prefer_large_pages(run_.timeline.programs);
  for (auto& [id, device] : devices_) {
    Frequency clock = median_clock(device.clocks);
    if (clock == Frequency()) {
      clock = usual_clock(device.architecture);
      log_.notes.push_back(
          fmt::format("device {}: no row tells its clock; taken to be {} MHz, as shipped", id,
                      clock.value() / 1'000'000));
    }
    place_kernels(id, device, clock);
    run_.devices.push_back(
        {.id = id, .architecture = std::move(device.architecture), .clock = clock});
  }
  for (auto& [key, op] : host_ops_) run_.host_ops.push_back(std::move(op));
  if (!run_.timeline.programs.empty() || !run_.host_ops.empty()) {
    log_.runs.push_back(std::move(run_));
  }
  run_ = LoggedRun();
  section_ = 0;
  devices_.clear();
  host_ops_.clear();
}

void OpsTimelineBuilder::place_kernels(std::uint16_t id, Device& device, Frequency clock) {
  std::vector<ProgramRun>& programs = run_.timeline.programs;
  PlacedChain chain;
  const auto end_chain = [&] {
    for (ProgramRun& program : std::span(programs).last(chain.size())) {
      program.kernel.start += chain.offset();
      program.kernel.end += chain.offset();
    }
  };
  static const ProgramRun kEmpty;
  std::uint64_t number = 0;
  SimTime reached;  // the latest kernel's end, as if there were no offsets
  const auto place = [&](const Op& op) {
    ++number;
    const bool says_firmware = op.firmware != Op::kUnsaid;
    const SimTime start = time_of_cycles(op.start, clock);
    const SimTime firmware = op.cycles >= 0  ? time_of_cycles(op.cycles, clock)
                             : says_firmware ? op.firmware
                                             : op.kernel;
    if (says_firmware && disagree(firmware, op.firmware)) {
      log_.dropped.add("DEVICE FW DURATION [ns] is not what its cycles are (a counter overflowed?)",
                       op.line, run_.timeline.names.name(op.name));
      ++run_.timeline.losses;
      return;
    }
    const SimTime slack = std::max(SimTime(), firmware - op.kernel);
    const bool follows = chain.size() > 0 && op.op_to_op != Op::kUnsaid &&
                         chain.append(op.op_to_op - (start - reached), slack);
    if (!follows) {
      end_chain();
      chain.begin(slack);
    }
    reached = start + op.kernel;
    // The program is written where it belongs: GCC 12 makes a temporary in words and copies it in
    // larger ones, for which the processor waits.
    ProgramRun& program = programs.emplace_back(kEmpty);
    program.number = number;
    program.name = op.name;
    program.section = op.section;
    program.trace = op.trace;
    program.replay = op.replay;
    program.device = id;
    program.kernel.start = start + chain.difference();
    program.kernel.end = reached + chain.difference();
  };
  for (std::vector<Op>& ops : device.ops) {
    std::ranges::for_each(ops, place);
    std::vector<Op>().swap(ops);
  }
  end_chain();
}

}  // namespace howard::profiler
