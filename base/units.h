// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "base/sim_time.h"

namespace howard {

/// A whole number of things of one unit. Counts of different units cannot be mixed.
template <class Unit>
class Count {
 public:
  constexpr Count() = default;
  explicit constexpr Count(std::int64_t value) : value_(value) {}

  constexpr std::int64_t value() const { return value_; }

  friend constexpr auto operator<=>(Count, Count) = default;
  friend constexpr Count operator+(Count a, Count b) { return Count(a.value_ + b.value_); }
  friend constexpr Count operator-(Count a, Count b) { return Count(a.value_ - b.value_); }
  friend constexpr Count operator*(Count a, std::int64_t n) { return Count(a.value_ * n); }
  friend constexpr Count operator*(std::int64_t n, Count a) { return Count(a.value_ * n); }
  constexpr Count& operator+=(Count other) { return *this = *this + other; }

 private:
  std::int64_t value_ = 0;
};

using Bytes = Count<struct BytesUnit>;
using Flops = Count<struct FlopsUnit>;          ///< Operations, not operations per second.
using Bandwidth = Count<struct BandwidthUnit>;  ///< Bytes per second.
using Frequency = Count<struct FrequencyUnit>;  ///< Cycles per second.

/// Returns the time that `amount` takes at `rate`, rounded up to a picosecond. `rate` must be
/// positive.
SimTime transfer_time(Bytes amount, Bandwidth rate);

constexpr std::int64_t ceil_div(std::int64_t dividend, std::int64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

}  // namespace howard
