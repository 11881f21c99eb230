// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

// Scripts may rely on these values; the help of each command states its own.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kRegression = 3;     ///< compare: something is slower than allowed.
inline constexpr int kStaleBaseline = 4;  ///< compare --strict: the baseline is out of date.
inline constexpr int kAmbiguous = 5;      ///< compare --strict: a row cannot be decided.
inline constexpr int kOtherPoints = 6;    ///< compare: a point is missing or new.
inline constexpr int kInterrupted = 130;  ///< 128 + SIGINT, which is what shells return.

}  // namespace howard::cli
