// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/calibration/bands.h"
#include "engines/chip/emulated_chip.h"
#include "harness/presentation.h"
#include "harness/result.h"
#include "profiler/bound.h"

namespace howard::experiments {

/// The metrics of kernel time by part begin with this: "kernel_time.matmul".
inline constexpr const char* kKernelTimes = "kernel_time.";

/// Says by what an account sums kernels up, and so how it shows them.
enum class KernelParts : std::uint8_t {
  ops,    ///< The longest four are named, with their shares of all kernels.
  layers  ///< Parts of a model: those of 2 % of an iteration are named, with their shares of it.
};

/// Sums up the kernels of an iteration by parts, and says how well their time is known.
class KernelAccount {
 public:
  struct Part {
    std::string name;
    std::int64_t launches = 0;
    SimTime kernel;
    Flops flops;  ///< As far as they were given.
    std::map<chip::Bottleneck, SimTime> by_bottleneck;

    /// Returns what limits most of its time; something was added.
    chip::Bottleneck bottleneck() const;
  };

  explicit KernelAccount(KernelParts by = KernelParts::ops) : by_(by) {}

  /// Adds `times` runs of a launch to a part. `flops` are those of one run.
  void add(std::string_view part, const chip::PlannedProgram& launch, const calibration::Band& band,
           std::int64_t times = 1, Flops flops = {});
  /// Adds the launches of a call to `chip`.
  void add(std::string_view part, chip::EmulatedChip& chip, const Program& call,
           std::int64_t times = 1);

  /// Adds `times` runs of all that another account has.
  void add(const KernelAccount& other, std::int64_t times = 1);
  /// Adds `more` times what this account has more than `first`.
  void extend(const KernelAccount& first, std::int64_t more);

  SimTime kernel_time() const { return known_.time; }
  std::int64_t launches() const;
  /// Returns the parts, the longest first.
  std::vector<Part> parts() const;
  /// Returns how the slowest matrix product is cut over the cores; empty without products.
  const std::string& slowest_product() const { return slowest_product_; }

  /// Returns how well the time of `spent` is known, whose kernels are those of the account; nothing
  /// of no time. Kernels hide behind the host's calls where the host sets the pace
  /// (profiler::pace_of), and the time beyond kernels belongs to the dispatcher otherwise.
  std::optional<harness::ExpectedError> expected_error(const profiler::SpentTime& spent) const;
  /// Says the same of a point.
  void describe_error(const profiler::SpentTime& spent, harness::PointResult& point) const;

  /// Says of a point that takes `seconds` what its kernels take by part, what the host takes where
  /// that is known, how well the time is known and what bounds it. Something was added. `exchanges`
  /// has the collectives of several chips, and `exchanged` is how long these waited for them.
  void describe(double seconds, std::optional<SimTime> host, harness::PointResult& point,
                const KernelAccount* exchanges = nullptr, SimTime exchanged = {}) const;

 private:
  /// Sums up times and what they rest on. Errors of one kind do not cancel, so bands add in
  /// proportion to the times.
  struct Footing {
    SimTime time;
    double uncertain = 0;                                   // seconds
    std::array<double, chip::kAllKnown.size()> by_known{};  // seconds
    void add(SimTime part, const calibration::Band& band);
  };

  Part& part_of(std::string_view name);

  std::string text(double seconds) const;

  KernelParts by_;
  std::map<std::string, Part, std::less<>> parts_;
  Footing known_;
  std::string_view architecture_ = "wormhole_b0";
  SimTime slowest_;
  std::string slowest_product_;
};

/// Returns what the launches of a call take by themselves.
SimTime kernel_time_of(chip::EmulatedChip& chip, const Program& call);

/// Returns what the launches of a call take in the region for traces.
Bytes recorded_bytes(chip::EmulatedChip& chip, const Program& call);

/// Returns the column of tables that shows the expected error.
inline harness::Column expected_error_column() {
  return {"expected error", harness::CellSource::metric, "expected_error", harness::Room::spare,
          "how far measured rows of these kinds were off, on average, that the fit had not seen; a "
          "single time may be several times as far off"};
}

}  // namespace howard::experiments
