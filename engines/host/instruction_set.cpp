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
  // GCC 11 does not know the names of the levels. What else v3 has (F16C, LZCNT, MOVBE), each CPU
  // with AVX2 and FMA has.
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? InstructionSet::v4 : v3 ? InstructionSet::v3 : InstructionSet::v2;
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
