// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/chip/calibration/bands.h"
#include "engines/chip/emulated_chip.h"

namespace howard::experiments {

/// Sums up the launches of one kind of op in a step.
struct OpKindWork {
  std::string_view name;
  int launches = 0;
  SimTime kernel;
  chip::Bottleneck bottleneck{};  ///< What limits most of this time.
};

/// Says what a step is on the emulated chip: its launches alone, without what lies between them.
struct StepWork {
  int calls = 0;
  int launches = 0;
  SimTime kernel;
  calibration::KnownTime known;   ///< The kernels' time.
  std::vector<OpKindWork> kinds;  ///< The longest time first.
  std::string slowest_product;    ///< How it is cut over the cores; empty without products.
  /// The calls in the order in which each op is first called: "matmul 5, transpose 2, add 2".
  std::string op_list;

  /// Returns "matmul 41 % (147, in1 reads), add 12 % (200, DRAM bandwidth), ...", with the `most`
  /// largest kinds.
  std::string text(std::size_t most) const;
};

StepWork work_of(chip::EmulatedChip& chip, std::span<const Program> programs);

}  // namespace howard::experiments
