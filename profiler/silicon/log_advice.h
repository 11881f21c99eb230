// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/sim_time.h"
#include "profiler/dispatch_gaps.h"
#include "profiler/formats/log.h"
#include "profiler/silicon/call_facts.h"

namespace howard::profiler {

/// Says what a run of a log spent on one of its calls. If the run has several devices, it is as one
/// device would have it: a run takes what the slowest device takes, a collective what the devices
/// take in the mean.
struct CallUse {
  std::uint32_t call = 0;  ///< Into the log's calls.
  std::string name;        ///< The op.
  std::uint64_t runs = 0;
  SimTime time;          ///< The kernels of all runs.
  SimTime median;        ///< The median run.
  std::string fidelity;  ///< "HiFi2"; empty where the log has none.
  int cores = 0;         ///< The cores that it ran on; 0: not known.
  int base_cores = 0;    ///< Those of its sub-device, where the log knows it.
  CallFacts facts;
  /// One run's bytes at the DRAM's peak, with what is read again; zero: none, or not known. What
  /// would take longer than the run took is not known: it touched a part of an operand.
  SimTime dram_at_peak;
  SimTime flops_at_peak;  ///< One run on `base_cores` at its fidelity; zero as above.
  std::optional<EmulatedCall> emulated;
  Obstacle obstacle{};       ///< Why it is not emulated.
  std::string not_emulated;  ///< The same in words.
  /// The runs differ by more than one shape allows: the log has wrong shapes for some of them.
  bool doubtful = false;
  /// What the log's counters said, in the mean of its runs, from 0 to 1; in the order of kCounters.
  std::array<std::optional<double>, kCounters.size()> counters{};
  SimTime gap;  ///< The median of the times before its runs that the host had a part in.

  /// Returns the least time that is possible.
  SimTime at_peak() const { return std::max(dram_at_peak, flops_at_peak); }
};

/// Returns the calls of a run, the largest time first. `emulator` may be null; nothing is then said
/// of the chip. Calls of other chips than the emulator's are not emulated, nor are doubtful ones.
/// `devices` are the gaps of the run's devices.
std::vector<CallUse> uses_of_calls(const LoggedRun& run, const OpCalls& calls,
                                   std::span<const BusyLane> devices, CallEmulator* emulator);

/// Says whether runs of a call, an elementwise one, differ by far more than one shape allows. Logs
/// of 2026 give such a program the shapes of the first call with the same program hash.
bool has_doubtful_shapes(std::string_view op, std::vector<SimTime> times);

/// Says by which of the chip's peaks a call is bound: "DRAM", "FLOPs" or "both" if it reaches two
/// thirds of them, "host" if the device waited longer for its host than the call took, otherwise
/// "slow"; "" if neither is known.
std::string_view bound_of(const CallUse& use);

/// Says what an op does with its time.
enum class OpWork : std::uint8_t { compute, communication, data_movement };
OpWork work_of(std::string_view op);
/// Returns "compute", "communication" or "data movement".
std::string_view name_of(OpWork work);

/// Says how far the gain of a finding can be trusted.
enum class GainSource : std::uint8_t {
  measured,  ///< The log itself has programs that do without.
  emulated,  ///< Both ways were run on the emulator, and the log's time changed in proportion.
  at_most,   ///< A bound: what is lost now, all of it.
};

/// Returns "measured", "emulated" or "at most".
std::string_view name_of(GainSource source);

/// Describes something that could be changed, and what it would give.
struct LogFinding {
  std::string what;     ///< "replay a trace".
  std::string where;    ///< "Matmul 32x1280 ...": the programs that it is about.
  std::string brief{};  ///< The same in few words; empty where `where` is.
  std::string why;      ///< The figures that it rests on.
  std::uint64_t programs = 0;
  SimTime now;   ///< The time that it is about, of the whole run.
  SimTime gain;  ///< The part of it that would go.
  GainSource source{};
  bool once = false;  ///< It is about first runs, which a longer run does not repeat.

  /// Returns what findings are ordered by, the greatest first.
  std::pair<bool, SimTime> rank() const { return {!once, gain}; }
};

/// Returns what would make a run faster, the largest gain first; what is about first runs comes
/// last. Findings may be about the same time: their gains do not add up. What would give less than
/// a thousandth of the run's busy time is left out. `devices` are the gaps of the run's devices,
/// `uses` what uses_of_calls() gave.
std::vector<LogFinding> advise(const LoggedRun& run, const OpCalls& calls,
                               std::span<const BusyLane> devices, std::span<const CallUse> uses,
                               CallEmulator* emulator);

}  // namespace howard::profiler
