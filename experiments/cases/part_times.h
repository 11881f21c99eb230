// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/calibration/bands.h"
#include "engines/chip/kernels/plan/planned_program.h"
#include "harness/result.h"

namespace howard::experiments {

/// Sums up the kernels of one part of a pass through a model.
struct PartTime {
  std::string name;
  int launches = 0;
  SimTime kernel;
  chip::Bottleneck bottleneck{};  ///< What limits most of this time.
};

/// Sums up the kernels of a pass by the parts of the model, or by its ops.
class PartTimes {
 public:
  /// Adds the launches of a call, `times` times. `architecture` is the chip's.
  void add(std::string_view part, std::span<const chip::PlannedProgram> launches,
           std::string_view architecture, std::int64_t times = 1);

  SimTime kernel_time() const { return known_.time(); }
  int launches() const;
  /// Returns the parts, the longest first.
  std::vector<PartTime> parts() const;

  /// Says of a point that takes `seconds` what its kernels take, by part, what bounds it, and how
  /// well its time is known. At least one call was added.
  void describe(double seconds, harness::PointResult& point) const;

 private:
  struct Total {
    int launches = 0;
    SimTime kernel;
    std::map<chip::Bottleneck, SimTime> by_bottleneck;
  };

  std::map<std::string, Total, std::less<>> totals_;
  calibration::KnownTime known_;
};

}  // namespace howard::experiments
