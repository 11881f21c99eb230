// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Random123/philox.h>

#include <array>
#include <cstdint>

#include "engines/host/instruction_set.h"

namespace howard::host {

/// Returns four random words for a counter: Philox4x32-7 (Salmon, Moraes, Dror, Shaw: "Parallel
/// random numbers: as easy as 1, 2, 3", SC 2011, where seven rounds are the fewest that pass
/// TestU01's BigCrush). The result depends on the arguments alone, so any thread can make any part
/// of a sequence.
HOWARD_INLINE inline std::array<std::uint32_t, 4> philox(std::uint64_t counter, std::uint64_t key) {
  const auto low = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  const auto words = r123::Philox4x32_R<7>()({{low(counter), low(counter >> 32), 0, 0}},
                                             {{low(key), low(key >> 32)}});
  return {words[0], words[1], words[2], words[3]};
}

}  // namespace howard::host
