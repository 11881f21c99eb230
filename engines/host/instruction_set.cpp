// SPDX-License-Identifier: Apache-2.0
#include "engines/host/instruction_set.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"

namespace howard::host {
namespace {

constexpr const char* kSwitch = "HOWARD_MAX_INSTRUCTION_SET";
constexpr std::array<std::string_view, 3> kNames = {"v2", "v3", "v4"};

InstructionSet set_of_cpu() {
  return __builtin_cpu_supports("x86-64-v4")   ? InstructionSet::v4
         : __builtin_cpu_supports("x86-64-v3") ? InstructionSet::v3
                                               : InstructionSet::v2;
}

InstructionSet most_allowed() {
  const char* const word = std::getenv(kSwitch);
  if (word == nullptr) return InstructionSet::v4;
  const auto found = std::ranges::find(kNames, word);
  if (found != kNames.end()) return static_cast<InstructionSet>(found - kNames.begin());
  throw Error({.attempted = std::string("read the environment variable ") + kSwitch,
               .value = word,
               .accepted = "v2, v3 or v4",
               .hint = "unset it to use all that the CPU has"});
}

}  // namespace

InstructionSet best_instruction_set() {
  static const InstructionSet kBest = std::min(set_of_cpu(), most_allowed());
  return kBest;
}

}  // namespace howard::host
