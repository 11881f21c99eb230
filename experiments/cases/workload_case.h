// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engines/workload/player.h"
#include "experiments/cases/emulated_case.h"

namespace howard::experiments {

/// Says how a recorded program is run again.
struct WorkloadOptions {
  bool from_python = true;  ///< Its calls cost the host what calls from Python cost.
  bool first_calls = true;  ///< The first calls of programs cost what they cost then.
  bool traced = false;      ///< Calls that follow each other are replays of traces.
  bool waits = true;        ///< It waits where it did; otherwise once, at its end.
};

/// Says what a run of a recorded program was made of.
struct WorkloadAccount {
  /// The matrix products of one shape and configuration.
  struct Product {
    std::string name;
    std::uint64_t runs = 0;
    SimTime kernel;
    Flops flops;

    /// Returns "1.628 ms, 20 x, 26.4 TFLOPS: ..."
    std::string text() const;
  };

  std::uint64_t calls = 0;
  std::vector<Product> products;              ///< Those with the longest kernels, these first.
  std::vector<workload::RegionTime> regions;  ///< The parts that the program has named.
  std::string by_analogy;                     ///< The calls without a kernel of their own.
  std::uint64_t first_calls = 0;              ///< Programs that were called for the first time,
  std::uint64_t compiled = 0;                 ///< those among them whose kernels were compiled,
  SimTime first_calls_time;                   ///< and what both took the host.
};

/// Runs a recorded program from its first command to its end, its finish included.
class WorkloadCase final : public EmulatedCase {
 public:
  /// If `traced`, the traces are captured here, before anything is timed. Throws Error when they do
  /// not fit into the chip's region for them, or the program does not run on the chip. `software`
  /// is that of the device.
  WorkloadCase(std::unique_ptr<chip::EmulatedChip> device,
               std::shared_ptr<const workload::Workload> program, const WorkloadOptions& options,
               const chip::SoftwareProfile& software);

  void run() override;
  void finish() override {}  // run() has done it
  void describe(double seconds, harness::PointResult& point) const override;

  /// Returns what the last run was made of.
  WorkloadAccount account() const;

 private:
  /// Holds calls that follow each other on one queue, without a transfer or a wait between them.
  struct Stretch {
    std::size_t begin = 0, end = 0;  ///< Places among the commands.
    std::uint8_t queue = 0;
  };

  void count_product(const workload::CallLine& call);
  void find_stretches();
  void capture_stretches();
  void capture(const Stretch& stretch, std::uint32_t trace);
  Bytes recorded_bytes(const workload::CallLine& call);
  bool is_wanted(const workload::Command& command) const;
  std::vector<WorkloadAccount::Product> slowest_products() const;
  void count_calls(WorkloadAccount& account) const;
  void count_first_calls(WorkloadAccount& account) const;

  chip::SoftwareProfile software_;
  std::shared_ptr<const workload::Workload> program_;
  WorkloadOptions options_;
  workload::Player player_;
  std::vector<Stretch> stretches_;
  std::vector<bool> needed_;  ///< Tensors that something beside the stretches uses.
  std::vector<workload::RegionTime> regions_;  ///< The last run's.
  Bytes largest_trace_;
  /// Found by the first run that makes its calls itself.
  std::map<std::string, WorkloadAccount::Product> products_;
  bool has_counted_ = false;
};

}  // namespace howard::experiments
