// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "engines/training/range.h"
#include "engines/training/setting_conditions.h"

namespace howard::training {

/// A setting of a recipe. This is the only place that says what it is called, what it may be and
/// what it is for.
struct Setting {
  std::string_view name;  ///< In checkpoints, and behind "--" on a command line.
  std::string_view key;   ///< TTML's, if one key says it: "training_config.batch_size".
  Range range;
  Condition rule;  ///< What holds of a valid recipe besides.
  Condition use;   ///< Which runs use it, as settings with values: "schedule step".
};

namespace settings {

inline constexpr Range kPositive{.least = 0, .open = true};
inline constexpr Range kFromZero{.least = 0};
inline constexpr Range kShare{.least = 0, .most = 1, .open = true};
inline constexpr Range kCount{.least = 1, .most = 1'000'000'000};
inline constexpr Range kColumns{.least = 1, .most = 1 << 24};
inline constexpr Range kHeads{.least = 1, .most = 1 << 20};
inline constexpr Range kSeed{.least = 0, .most = std::numeric_limits<std::uint32_t>::max()};

}  // namespace settings

}  // namespace howard::training
