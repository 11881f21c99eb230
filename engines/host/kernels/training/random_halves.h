// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/host/kernels/training/philox.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {

// Each element of a tensor has half of a random word, group by group: element i + k * kCounters of
// a group uses half k of the group's counter i. So neighbouring elements use neighbouring counters,
// which suits vectors.
inline constexpr std::int64_t kCounters = 64;
inline constexpr std::int64_t kHalves = 8;
inline constexpr std::int64_t kHalvesOfGroup = kCounters * kHalves;

HOWARD_INLINE inline void fill_halves(std::int64_t group, std::uint32_t seed,
                                      std::uint16_t (&halves)[kHalves][kCounters]) {
  for_each(kCounters, [&](std::int64_t i) HOWARD_INLINE {
    const auto words = philox(static_cast<std::uint64_t>(group * kCounters + i), seed);
    for (std::size_t word = 0; word < words.size(); ++word) {
      halves[2 * word][i] = static_cast<std::uint16_t>(words[word]);
      halves[2 * word + 1][i] = static_cast<std::uint16_t>(words[word] >> 16);
    }
  });
}

}  // namespace howard::host
