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

/// A program's time and work, whoever ran it. The names need to live for the call only.
struct OpRun {
  std::string_view name;     ///< The op: "matmul".
  std::string_view section;  ///< The step or phase it belongs to; empty: none.
  SimTime duration;          ///< Of the kernel.
  SimTime idle_before;       ///< The gap that it ended; zero where it followed at once.
  Flops flops;
  Bytes dram;                   ///< Read and written.
  double peak_flops = 0;        ///< FLOP/s for its cores, data type and fidelity; 0: not known.
  double peak_bandwidth = 0;    ///< B/s of the DRAM; 0: not known.
  std::string_view limited_by;  ///< The kernel's longest stage: "unpack"; empty: not known.
  /// The part of the cores that it could be spread over which had work; absent: not known.
  std::optional<double> cores_used;
};

/// Which part of the time is the largest.
enum class Verdict : std::uint8_t {
  dispatch_bound,      ///< Nothing runs.
  compute_bound,       ///< What the arithmetic takes at its peak.
  dram_bound,          ///< What the DRAM takes at its peak.
  kernel_inefficient,  ///< Kernels beyond both: start, unpacking, uneven cores, small transfers.
  unknown,             ///< Kernels of which the work or the peaks are not known.
};

/// "dispatch", "compute", "DRAM", "kernel", "unknown".
std::string_view name_of(Verdict verdict);

/// The runs of one op, of one section, or all. `idle`, `compute`, `dram`, `excess` and `unknown`
/// add up to `time()`, exactly.
struct WorkSummary {
  std::string name;
  std::uint64_t runs = 0;
  SimTime idle;
  SimTime compute;  ///< At peak, of the runs whose arithmetic takes longer than their DRAM traffic.
  SimTime dram;     ///< At peak, of the others.
  SimTime excess;   ///< What the kernels took longer than that.
  SimTime unknown;
  Flops flops;  ///< Of the runs that are not `unknown`, as are the bytes.
  Bytes dram_bytes;
  /// Of kernel time, the mean over it; absent where no run says.
  std::optional<double> cores_used;

  struct Stage {
    std::string name;
    SimTime busy;
  };
  std::vector<Stage> stages;  ///< Kernel time by `limited_by`, the longest first.

  SimTime busy() const { return compute + dram + excess + unknown; }
  SimTime time() const { return idle + busy(); }
  Verdict verdict() const;
  /// The verdict's part of the time; 0 when there is none.
  double verdict_share() const;

  /// The position under the roofline, of the runs whose work is known; absent where there is none
  /// (no bytes, no operations). FLOP per byte; FLOP/s. `attainable` is for these runs one by one.
  std::optional<double> intensity() const;
  std::optional<double> attainable() const;
  std::optional<double> achieved() const;
};

struct Bottlenecks {
  WorkSummary all;
  std::vector<WorkSummary> by_op;       ///< The largest time first.
  std::vector<WorkSummary> by_section;  ///< In the order of their first runs.
};

/// A run that is faster than its peaks allow counts as if it took exactly what they allow: the
/// peaks are then wrong, and `achieved` is above `attainable`. Durations must not be negative.
Bottlenecks find_bottlenecks(std::span<const OpRun> runs);

}  // namespace howard::profiler
