// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace howard {

/// Throws Error for a time beyond 106 days, the range of 64 bits of picoseconds. Only a profile
/// with absurd constants gets there, so this is an Error and not a bug.
[[noreturn]] void throw_time_overflow();

/// A point in time or a duration, in whole picoseconds. Both the emulator's virtual clock and the
/// host's steady clock use it, so that the same measurement code reads either. Integers keep a run
/// byte-identical on every machine and build type. The range is +-106 days; beyond it, operations
/// throw Error.
class SimTime {
 public:
  constexpr SimTime() = default;

  static constexpr SimTime picoseconds(std::int64_t count) { return SimTime(count); }
  static constexpr SimTime nanoseconds(std::int64_t count) { return SimTime(1'000) * count; }
  static constexpr SimTime microseconds(std::int64_t count) { return SimTime(1'000'000) * count; }

  constexpr std::int64_t ps() const { return ps_; }

  /// Use this for printing and statistics only; never feed the result back into a simulation.
  constexpr double seconds() const { return static_cast<double>(ps_) * 1e-12; }

  friend constexpr auto operator<=>(SimTime, SimTime) = default;

  friend constexpr SimTime operator+(SimTime a, SimTime b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.ps_, b.ps_, &sum)) throw_time_overflow();
    return SimTime(sum);
  }
  friend constexpr SimTime operator-(SimTime a, SimTime b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.ps_, b.ps_, &difference)) throw_time_overflow();
    return SimTime(difference);
  }
  friend constexpr SimTime operator*(SimTime time, std::int64_t count) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(time.ps_, count, &product)) throw_time_overflow();
    return SimTime(product);
  }
  friend constexpr SimTime operator*(std::int64_t count, SimTime time) { return time * count; }
  constexpr SimTime& operator+=(SimTime other) { return *this = *this + other; }

 private:
  explicit constexpr SimTime(std::int64_t ps) : ps_(ps) {}

  std::int64_t ps_ = 0;
};

/// Returns `part` divided by `whole`, for printing; returns nothing if `whole` is zero.
inline std::optional<double> share(SimTime part, SimTime whole) {
  if (whole == SimTime()) return std::nullopt;
  return part.seconds() / whole.seconds();
}

}  // namespace howard
