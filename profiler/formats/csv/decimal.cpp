// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/csv/decimal.h"

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <limits>

namespace howard::profiler {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Holds the digits of a number without its point, as far as they fit. `exponent` places the point.
struct Digits {
  std::uint64_t value = 0;
  int exponent = 0;
  int count = 0;  ///< The number of digits, including the dropped ones.

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

std::uint64_t load(const char* bytes, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, size);
  return word;
}

/// Loads one to eight characters into the high bytes of a word, with the last one in the highest.
std::uint64_t load_high(const char* text, std::size_t size) {
  if (size == 8) return load(text, 8);
  if (size >= 4) return load(text, 4) << (64 - 8 * size) | load(text + size - 4, 4) << 32;
  const std::uint64_t first = load(text, 1) << (64 - 8 * size);
  const std::uint64_t middle = load(text + size / 2, 1) << (64 - 8 * (size - size / 2));
  return first | middle | load(text + size - 1, 1) << 56;
}

/// Returns the number that the eight characters of `word` are; the lowest byte is the first one.
/// `good` becomes false if one is not a digit. Pairs of digits become one number, then pairs of
/// these, then pairs again.
std::uint64_t parse_eight(std::uint64_t word, bool& good) {
  constexpr std::uint64_t kZeros = 0x3030303030303030;
  const std::uint64_t digits = word ^ kZeros;
  // A byte over 9 reaches its highest bit when 0x76 is added, or has that bit set.
  good = good && ((digits | ((digits & 0x7f7f7f7f7f7f7f7f) + 0x7676767676767676)) &
                  0x8080808080808080) == 0;
  const std::uint64_t pairs = digits * 10 + (digits >> 8);
  const std::uint64_t low = (pairs & 0x000000ff000000ff) * 0x000f424000000064;
  const std::uint64_t high = (pairs >> 16 & 0x000000ff000000ff) * 0x0000271000000001;
  return (low + high) >> 32;
}

}  // namespace

bool parse_digits(std::string_view text, std::int64_t& number) {
  static_assert(std::endian::native == std::endian::little);
  if (text.empty() || text.size() > 16) return false;
  constexpr std::uint64_t kZeros = 0x3030303030303030;
  const std::size_t high = text.size() > 8 ? text.size() - 8 : 0;
  const std::size_t low = text.size() - high;
  bool good = true;
  std::uint64_t word = load_high(text.data() + high, low);
  if (low < 8) word |= kZeros >> (8 * low);
  std::uint64_t value = parse_eight(word, good);
  if (high > 0) {
    word = load_high(text.data(), high);
    if (high < 8) word |= kZeros >> (8 * high);
    value += 100'000'000 * parse_eight(word, good);
  }
  number = static_cast<std::int64_t>(value);
  return good;
}

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
