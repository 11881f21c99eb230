// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engines/device/device.h"

namespace howard::wormhole {

/// How the compute grid is divided: one sub-device of all cores, or ranges of them.
class SubDevices {
 public:
  /// The whole of `grid`, which may be divided into `most` at the most.
  SubDevices(CoreGrid grid, int most);

  /// None: the whole grid again. Error, changing nothing, when there are too many, when one leaves
  /// the grid, or when two overlap.
  void divide(std::span<const CoreRange> ranges);

  int count() const { return static_cast<int>(ranges_.size()); }
  /// Error when there is no sub-device `index`.
  const CoreRange& range(int index) const;

 private:
  CoreGrid grid_;
  int most_;
  std::vector<CoreRange> ranges_;
};

}  // namespace howard::wormhole
