// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/decimal.h"

#include <charconv>
#include <limits>

namespace howard::profiler {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The digits of a number without its point, as far as they fit; `exponent` places the point.
struct Digits {
  std::uint64_t value = 0;
  int exponent = 0;
  int count = 0;  ///< Digits that were there, the dropped ones included.

  /// Digits beyond the nineteenth significant one do not fit and are dropped.
  void append(char digit, bool after_point) {
    ++count;
    if (value >= 1'000'000'000'000'000'000) {
      if (!after_point) ++exponent;
      return;
    }
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
    if (after_point) --exponent;
  }
};

}  // namespace

std::optional<std::int64_t> parse_scaled(std::string_view text, int scale) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  Digits digits;
  bool after_point = false;
  while (!text.empty() && (is_digit(text.front()) || (text.front() == '.' && !after_point))) {
    if (text.front() == '.') {
      after_point = true;
    } else {
      digits.append(text.front(), after_point);
    }
    text.remove_prefix(1);
  }
  if (digits.count == 0) return std::nullopt;
  int power = 0;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), power);
    if (failure != std::errc{} || power < -1000 || power > 1000) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  if (!text.empty()) return std::nullopt;
  std::uint64_t value = digits.value;
  int exponent = digits.exponent + power + scale;
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (; exponent > 0 && value != 0; --exponent) {
    if (value > kMost / 10) return std::nullopt;
    value *= 10;
  }
  bool half = false;
  for (; exponent < 0 && (value != 0 || half); ++exponent) {
    half = value % 10 >= 5;
    value /= 10;
  }
  if (half) ++value;
  if (value > kMost) return std::nullopt;
  const auto magnitude = static_cast<std::int64_t>(value);
  return negative ? -magnitude : magnitude;
}

}  // namespace howard::profiler
