// SPDX-License-Identifier: Apache-2.0
#include "engines/host/instruction_set.h"

namespace howard::host {

InstructionSet best_instruction_set() {
  static const InstructionSet kBest = __builtin_cpu_supports("x86-64-v4")   ? InstructionSet::v4
                                      : __builtin_cpu_supports("x86-64-v3") ? InstructionSet::v3
                                                                            : InstructionSet::v2;
  return kBest;
}

}  // namespace howard::host
