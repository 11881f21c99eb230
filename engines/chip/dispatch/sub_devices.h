// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engines/device/device.h"

namespace howard::chip {

/// Says how the compute grid is divided: into one sub-device of all cores, or into ranges of cores.
class SubDevices {
 public:
  /// Starts with the whole of `grid`, which may be divided into at most `most` sub-devices.
  SubDevices(CoreGrid grid, int most);

  /// Divides the grid; an empty list restores the whole grid. Throws Error and changes nothing when
  /// there are too many ranges, when one leaves the grid, or when two overlap.
  void divide(std::span<const CoreRange> ranges);

  int count() const { return static_cast<int>(ranges_.size()); }
  /// Throws Error when there is no sub-device `index`.
  const CoreRange& range(int index) const;

 private:
  CoreGrid grid_;
  int most_;
  std::vector<CoreRange> ranges_;
};

}  // namespace howard::chip
