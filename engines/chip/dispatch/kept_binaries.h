// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "base/units.h"
#include "engines/chip/kernels/plan/planned_program.h"

namespace howard::chip {

/// Knows the programs of a trace whose binaries lie in the cores' configuration rings. A program
/// that is launched again while its binaries are there is dispatched without them.
class KeptBinaries {
 public:
  explicit KeptBinaries(Bytes ring) : ring_(ring) {}

  /// Takes the next launch of the trace. Returns whether the cores still have its binaries. The
  /// oldest ones make room for those of a launch that brings its own.
  bool pass(const PlannedProgram& planned);

 private:
  struct Kept {
    const PlannedProgram* planned = nullptr;
    Bytes size;
  };

  Bytes ring_, used_;
  std::deque<Kept> kept_;  ///< The oldest one is first.
};

}  // namespace howard::chip
