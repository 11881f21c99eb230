// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/sim_time.h"
#include "base/units.h"

namespace howard::profiler {

/// No kernel, call or firmware ran for longer than this; a log that says so is damaged. The sum of
/// a hundred such times still fits `SimTime`.
inline constexpr SimTime kLongestLoggedTime = SimTime::microseconds(86'400'000'000);

/// Continues a device's counter as the device profiler stores it: 44 bits (32 low ones and 12 of
/// the high word), which at 1 GHz begin again every 4.9 hours.
class CycleCounter {
 public:
  static constexpr std::int64_t kModulus = std::int64_t{1} << 44;
  /// A counter has wrapped if it falls from within this distance of its end to within this distance
  /// of its beginning. Any other fall is another run, or damage. It is 18 minutes at 1 GHz.
  static constexpr std::int64_t kNearEnd = std::int64_t{1} << 40;
  /// This is 52 days at 1 GHz. Values beyond it are damage; values below it fit `SimTime` at any
  /// clock of `kSlowestClock` or more.
  static constexpr std::int64_t kMost = std::int64_t{1} << 52;

  /// Returns `cycle` as if the counter had not wrapped since the first one; absent if no counter
  /// can have this value.
  std::optional<std::int64_t> continued(std::int64_t cycle);

  /// Returns the cycles from `start` to `end`, with one wrap allowed; absent if `end` is before
  /// `start`.
  static std::optional<std::int64_t> between(std::int64_t start, std::int64_t end);

 private:
  std::int64_t last_ = 0;
  std::int64_t wraps_ = 0;
};

/// Clocks within these bounds are believed: Tenstorrent's devices run at 500 MHz (idle) to 1.35
/// GHz.
inline constexpr Frequency kSlowestClock{500'000'000};
inline constexpr Frequency kFastestClock{10'000'000'000};

/// Returns the time of a number of cycles, 0 to `CycleCounter::kMost`, at a believed clock, to the
/// nearest picosecond.
SimTime time_of_cycles(std::int64_t cycles, Frequency clock);

}  // namespace howard::profiler
