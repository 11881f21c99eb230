// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/workload/player.h"
#include "experiments/cases/emulated_case.h"
#include "experiments/cases/kernel_account.h"
#include "experiments/cases/program_changes.h"

namespace howard::experiments {

/// Says how a recorded program is run again.
struct WorkloadOptions {
  bool from_python = true;  ///< Its calls cost the host what calls from Python cost.
  bool first_calls = true;  ///< The first calls of programs cost what they cost then.
  bool traced = false;      ///< Calls that follow each other are replays of traces.
  bool waits = true;        ///< It waits where it did; otherwise once, at its end.
  ProgramChanges changes = {};
};

/// Counts the programs that a recorded program calls for the first time.
struct FirstCalls {
  std::uint64_t programs = 0;
  std::uint64_t compiled = 0;  ///< Those of them whose kernels were compiled.
  SimTime time;                ///< What they took the host.
};

/// Runs a recorded program from its first command to its end, its finish included.
class WorkloadCase final : public EmulatedCase {
 public:
  /// If `traced`, the traces are captured here, before anything is timed. Throws Error when they do
  /// not fit into the chip's region for them, or the program does not run on the chip.
  WorkloadCase(std::unique_ptr<chip::EmulatedChip> device,
               std::shared_ptr<const workload::Workload> program, const WorkloadOptions& options);

  void run() override;
  void finish() override {}  // run() has done it
  void describe(double seconds, harness::PointResult& point) const override;

  std::uint64_t calls() const;
  /// Returns the slowest matrix products of one shape and configuration: "1.628 ms, 20 x, 26.4
  /// TFLOPS: ..."
  std::vector<std::string> slowest_products() const;
  /// Returns the parts that the program has named, as of the last run.
  const std::vector<workload::RegionTime>& regions() const { return regions_; }
  /// Returns the calls without a kernel of their own; empty if each has one.
  std::string by_analogy() const;
  /// Returns what the traces that it captures take of the region for traces, as many as are there
  /// at once, as of the first run.
  Bytes recorded_traces() const { return recorded_.most; }
  /// Returns none if its first calls cost what all others do.
  FirstCalls first_calls() const;

 private:
  /// Holds calls that follow each other on one queue, without a transfer or a wait between them.
  struct Stretch {
    std::size_t begin = 0, end = 0;  ///< Places among the commands.
    std::uint8_t queue = 0;
  };

  /// The traces that the program captures itself.
  struct Recorded {
    std::map<std::uint32_t, Bytes> alive;
    std::optional<Bytes> open;  ///< The one that is being captured.
    Bytes most;
  };

  void count_product(const workload::CallLine& call);
  void count_trace(const workload::Command& command);
  void find_stretches();
  void capture_stretches();
  void capture(const Stretch& stretch, std::uint32_t trace);
  bool is_wanted(const workload::Command& command) const;

  std::shared_ptr<const workload::Workload> program_;
  WorkloadOptions options_;
  workload::Player player_;
  std::vector<Stretch> stretches_;
  std::vector<bool> needed_;  ///< Tensors that something beside the stretches uses.
  std::vector<workload::RegionTime> regions_;  ///< The last run's.
  Bytes largest_trace_;
  /// Found by the first run that makes its calls itself.
  KernelAccount products_;
  Recorded recorded_;
  bool has_counted_ = false;
};

}  // namespace howard::experiments
