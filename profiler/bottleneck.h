// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "base/units.h"

namespace howard::profiler {

/// Holds a program's time and work on any device. The names need to live for the call only.
struct OpRun {
  std::string_view name;     ///< The op: "matmul".
  std::string_view section;  ///< The step or phase to which it belongs; empty: none.
  SimTime duration;          ///< The time of the kernel.
  SimTime idle_before;       ///< The gap that it ended; zero if it followed at once.
  Flops flops;
  Bytes dram;                   ///< Bytes that were read and written.
  double peak_flops = 0;        ///< FLOP/s for its cores, data type and fidelity; 0 if unknown.
  double peak_bandwidth = 0;    ///< B/s of the DRAM; 0 if unknown.
  std::string_view limited_by;  ///< The kernel's longest stage: "unpack"; empty if unknown.
  /// The part of the cores over which it could be spread that had work; absent if unknown.
  std::optional<double> cores_used;
};

/// Says what the time depends on. Each verdict has its part of the time.
enum class Verdict : std::uint8_t {
  dispatch_bound,  ///< Nothing runs.
  compute_bound,   ///< Arithmetic at its peak takes the time.
  dram_bound,      ///< The DRAM at its peak takes the time.
  /// Kernels take longer than both: start, unpacking, uneven cores, small transfers.
  kernel_inefficient,
  unknown,  ///< The work or the peaks of the kernels are not known.
};

/// Returns "dispatch", "compute", "DRAM", "kernel" or "unknown".
std::string_view name_of(Verdict verdict);

/// Sums up the runs of one op, of one section, or of everything. `idle`, `compute`, `dram`,
/// `excess` and `unknown` add up to `time()`, exactly.
struct WorkSummary {
  std::string name;
  std::uint64_t runs = 0;
  SimTime idle;
  /// The time at the peak, for runs whose arithmetic takes longer than their DRAM traffic.
  SimTime compute;
  SimTime dram;    ///< The time at the peak, for the other runs.
  SimTime excess;  ///< The time that the kernels took beyond that.
  SimTime unknown;
  Flops flops;  ///< Those of the runs that are not `unknown`, as for the bytes.
  Bytes dram_bytes;
  /// The mean over kernel time; absent if no run knows it.
  std::optional<double> cores_used;

  struct Stage {
    std::string name;
    SimTime busy;
  };
  std::vector<Stage> stages;  ///< Kernel time by `limited_by`, the longest first.

  SimTime busy() const { return compute + dram + excess + unknown; }
  SimTime time() const { return idle + busy(); }
  /// Returns `dispatch_bound` if kernels do not decide the time (`kernels_decide`), and
  /// `kernel_verdict()` otherwise.
  Verdict verdict() const;
  /// Returns what kernels spend most of their time on; `unknown` if none ran.
  Verdict kernel_verdict() const;
  /// Returns the part of the time that belongs to a verdict; 0 if there is no time.
  double share_of(Verdict verdict) const;

  /// These give the position under the roofline of the runs whose work is known, in FLOP per byte
  /// and FLOP/s; absent if there is none (no bytes or no operations). `attainable` treats these
  /// runs one by one.
  std::optional<double> intensity() const;
  std::optional<double> attainable() const;
  std::optional<double> achieved() const;
};

struct Bottlenecks {
  WorkSummary all;
  std::vector<WorkSummary> by_op;       ///< The largest time comes first.
  std::vector<WorkSummary> by_section;  ///< They are in the order of their first runs.
};

/// If a run is faster than its peaks allow, it counts as if it took exactly what they allow. The
/// peaks are then wrong, and `achieved` is above `attainable`. Durations must not be negative.
Bottlenecks find_bottlenecks(std::span<const OpRun> runs);

}  // namespace howard::profiler
