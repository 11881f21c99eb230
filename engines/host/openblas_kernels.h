// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/host/instruction_set.h"

namespace howard::host {

/// Returns the value of OPENBLAS_CORETYPE with which OpenBLAS uses `set` and no more. It is worth
/// setting in any case: Debian's 0.3.21 may take a newer CPU for the oldest that it knows, an
/// Emerald Rapids for Prescott, with a sixth of the speed. Its kernels for Skylake-X suit all CPUs
/// that have AVX-512, and those for Haswell all that have AVX2.
constexpr const char* openblas_kernels(InstructionSet set) {
  switch (set) {
    case InstructionSet::v4:
      return "SkylakeX";
    case InstructionSet::v3:
      return "Haswell";
    case InstructionSet::v2:
      break;
  }
  return "Nehalem";
}

}  // namespace howard::host
