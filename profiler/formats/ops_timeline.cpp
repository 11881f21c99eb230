// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace howard::profiler {
namespace {

bool is_signpost(const OpRow& row) { return row.type == "signpost"; }

/// Its type says that it ran on the device, or its times do.
bool is_device_op(const OpRow& row) {
  return row.type == "tt_dnn_device" || row.kernel_time || row.firmware_start;
}

/// The clocks the architectures are shipped with, for files that do not tell.
Frequency usual_clock(std::string_view architecture) {
  constexpr Frequency kWormhole(1'000'000'000);
  constexpr Frequency kBlackhole(1'350'000'000);
  return architecture == "blackhole" ? kBlackhole : kWormhole;
}

/// The kernels of consecutive ops whose distances are known, and where the first one may begin.
/// A kernel lies within its firmware: `slack` is what the firmware takes longer, and the kernel
/// begins `offset` after it, 0 <= offset <= slack. The op-to-op times tell how the offsets differ,
/// so that one unknown is left for all, and the bounds of all narrow it.
class PlacedChain {
 public:
  void begin(SimTime slack) {
    low_ = SimTime();
    high_ = slack;
    differences_.assign(1, SimTime());
  }

  /// Appends an op whose offset is `step` more than that of the op before; false when the bounds
  /// do not allow it, and the chain ends.
  bool append(SimTime step, SimTime slack) {
    const SimTime difference = differences_.back() + step;
    const SimTime low = std::max(low_, SimTime() - difference);
    const SimTime high = std::min(high_, slack - difference);
    if (low > high) return false;
    low_ = low;
    high_ = high;
    differences_.push_back(difference);
    return true;
  }

  /// The offsets: the first one in the middle of what is possible.
  std::size_t size() const { return differences_.size(); }
  SimTime offset(std::size_t i) const {
    return SimTime::picoseconds((low_.ps() + high_.ps()) / 2) + differences_[i];
  }

 private:
  SimTime low_, high_;
  std::vector<SimTime> differences_;
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
  device.ops.push_back({.start = *start,
                        .cycles = cycles,
                        .firmware = row.firmware_time,
                        .kernel = *row.kernel_time,
                        .op_to_op = row.op_to_op,
                        .line = row.line,
                        .name = run_.timeline.names.id(row.name),
                        .section = section_,
                        .trace = number(row.trace),
                        .replay = number(row.replay)});
  ++programs_;
}

namespace {

/// The clock that makes cycles of nanoseconds, in whole MHz: the middle of what the rows say, as a
/// damaged counter spoils a mean. 0 when no row says.
Frequency median_clock(std::vector<double>& megahertz) {
  if (megahertz.empty()) return {};
  const auto middle = megahertz.begin() + static_cast<std::ptrdiff_t>(megahertz.size() / 2);
  std::ranges::nth_element(megahertz, middle);
  const Frequency clock(std::llround(*middle) * 1'000'000);
  return clock >= kSlowestClock && clock <= kFastestClock ? clock : Frequency();
}

/// A firmware's time by its cycles and by its own column: rounding and the clock's drift explain a
/// difference of a thousandth, not one of a hundredth.
bool disagree(SimTime by_cycles, SimTime by_column) {
  const std::int64_t difference = std::abs((by_cycles - by_column).ps());
  return difference > SimTime::nanoseconds(2).ps() + by_column.ps() / 100;
}

}  // namespace

void OpsTimelineBuilder::end_run() {
  std::size_t programs = 0;
  for (const auto& [id, device] : devices_) programs += device.ops.size();
  run_.timeline.programs.reserve(programs);
  for (auto& [id, device] : devices_) {
    // Rounding to a nanosecond is too coarse for a clock where the firmware ran for less than this.
    constexpr SimTime kLongEnough = SimTime::nanoseconds(1'000);
    std::vector<double> megahertz;
    for (const Op& op : device.ops) {
      if (op.firmware && *op.firmware >= kLongEnough && op.cycles > 0) {
        megahertz.push_back(static_cast<double>(op.cycles) / op.firmware->seconds() * 1e-6);
      }
    }
    Frequency clock = median_clock(megahertz);
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
  remove_defects(run_.timeline, log_.dropped);
  if (!run_.timeline.programs.empty() || !run_.host_ops.empty()) {
    log_.runs.push_back(std::move(run_));
  }
  run_ = LoggedRun();
  section_ = 0;
  devices_.clear();
  host_ops_.clear();
}

void OpsTimelineBuilder::place_kernels(std::uint16_t id, const Device& device, Frequency clock) {
  std::vector<ProgramRun>& programs = run_.timeline.programs;
  PlacedChain chain;
  const auto end_chain = [&] {
    for (std::size_t i = 0; i < chain.size(); ++i) {
      Span& kernel = programs[programs.size() - chain.size() + i].kernel;
      kernel.start += chain.offset(i);
      kernel.end += chain.offset(i);
    }
  };
  std::uint64_t number = 0;
  for (const Op& op : device.ops) {
    ++number;
    const SimTime start = time_of_cycles(op.start, clock);
    const SimTime firmware =
        op.cycles >= 0 ? time_of_cycles(op.cycles, clock) : op.firmware.value_or(op.kernel);
    if (op.firmware && disagree(firmware, *op.firmware)) {
      log_.dropped.add("DEVICE FW DURATION [ns] is not what its cycles are (a counter overflowed?)",
                       op.line, run_.timeline.names.name(op.name));
      ++run_.timeline.losses;
      continue;
    }
    const SimTime slack = std::max(SimTime(), firmware - op.kernel);
    bool follows = false;
    if (chain.size() > 0 && op.op_to_op) {
      const SimTime distance = start - programs.back().kernel.end;
      follows = chain.append(*op.op_to_op - distance, slack);
    }
    if (!follows) {
      end_chain();
      chain.begin(slack);
    }
    programs.push_back({.number = number,
                        .name = op.name,
                        .section = op.section,
                        .trace = op.trace,
                        .replay = op.replay,
                        .device = id,
                        .kernel = {start, start + op.kernel}});
  }
  end_chain();
}

}  // namespace howard::profiler
