// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

// What a script may rely on; help.md and the verbs' own help say the same.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kRegression = 3;     ///< compare: something is slower than allowed.
inline constexpr int kStaleBaseline = 4;  ///< compare --exact: something is faster than recorded.
inline constexpr int kOtherPoints = 6;    ///< compare: a point is missing, or new.
inline constexpr int kInterrupted = 130;  ///< 128 + SIGINT, as shells count.

}  // namespace howard::cli
