// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "engines/host/instruction_set.h"

namespace howard::host {

/// Returns four random words for a counter: Philox4x32-7 (Salmon, Moraes, Dror, Shaw: "Parallel
/// random numbers: as easy as 1, 2, 3", SC 2011, where seven rounds are the fewest that pass
/// TestU01's BigCrush). The result depends on the arguments alone, so any thread can make any part
/// of a sequence.
HOWARD_INLINE inline std::array<std::uint32_t, 4> philox(std::uint64_t counter, std::uint64_t key) {
  std::uint32_t a = static_cast<std::uint32_t>(counter);
  std::uint32_t b = static_cast<std::uint32_t>(counter >> 32);
  std::uint32_t c = 0;
  std::uint32_t d = 0;
  std::uint32_t key_low = static_cast<std::uint32_t>(key);
  std::uint32_t key_high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 7; ++round) {
    const std::uint64_t first = std::uint64_t{0xD251'1F53} * a;
    const std::uint64_t second = std::uint64_t{0xCD9E'8D57} * c;
    const auto next_a = static_cast<std::uint32_t>(second >> 32) ^ b ^ key_low;
    const auto next_c = static_cast<std::uint32_t>(first >> 32) ^ d ^ key_high;
    b = static_cast<std::uint32_t>(second);
    d = static_cast<std::uint32_t>(first);
    a = next_a;
    c = next_c;
    key_low += 0x9E37'79B9;
    key_high += 0xBB67'AE85;
  }
  return {a, b, c, d};
}

}  // namespace howard::host
