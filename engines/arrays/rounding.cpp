// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engines/arrays/array.h"
#include "engines/device/bfloat16.h"

namespace howard::arrays {
namespace {

/// This many numbers share an exponent in the block formats.
constexpr std::size_t kBlock = 16;

/// Gives each number a sign and `bits` of mantissa under the largest exponent of the block. It
/// rounds to nearest, ties to even, and cuts off at the largest mantissa.
void round_block(std::span<float> block, int bits) {
  float largest = 0;
  for (const float value : block) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  if (largest == 0) return;
  const int exponent = std::ilogb(largest);
  const double step = std::ldexp(1.0, exponent - (bits - 1));
  const double most = std::ldexp(1.0, bits) - 1;
  for (float& value : block) {
    if (!std::isfinite(value)) continue;
    const double mantissa = std::nearbyint(static_cast<double>(value) / step);
    value = static_cast<float>(std::clamp(mantissa, -most, most) * step);
  }
}

Array block_rounded(const Array& a, int bits) {
  Array out(a.shape(), false);
  const std::span<float> words = out.words();
  std::ranges::copy(a.words(), words.begin());
  const std::size_t width =
      a.shape().empty() ? 1 : std::max<std::size_t>(1, static_cast<std::size_t>(a.shape().back()));
  for (std::size_t row = 0; row < words.size(); row += width) {
    for (std::size_t at = 0; at < width; at += kBlock) {
      round_block(words.subspan(row + at, std::min(kBlock, width - at)), bits);
    }
  }
  return out;
}

Array bfloat16_rounded(const Array& a) {
  Array out(a.shape(), false);
  std::ranges::transform(a.words(), out.words().begin(), rounded_to_bfloat16);
  return out;
}

Array real(const Array& a) {
  if (!a.is_whole()) return a;
  Array out(a.shape(), false);
  for (std::size_t i = 0; i < out.words().size(); ++i) out.set(i, a.at(i));
  return out;
}

/// Converts to whole numbers of so many bits. What does not fit wraps, as in a conversion in
/// hardware.
Array whole(const Array& a, int bits) {
  if (a.is_whole() && bits == 32) return a;
  Array out(a.shape(), true);
  const double range = std::ldexp(1.0, bits);
  for (std::size_t i = 0; i < out.words().size(); ++i) {
    double value = a.at(i);
    if (bits < 32) {
      value = std::isfinite(value) ? std::fmod(std::trunc(value), range) : 0;
      if (value < 0) value += range;
    }
    out.set(i, value);
  }
  return out;
}

}  // namespace

Array rounded(const Array& a, std::string_view dtype) {
  if (dtype == "float32") return real(a);
  if (dtype == "bfloat16") return bfloat16_rounded(real(a));
  if (dtype == "bfloat8_b") return block_rounded(real(a), 7);
  if (dtype == "bfloat4_b") return block_rounded(real(a), 3);
  if (dtype == "uint8") return whole(a, 8);
  if (dtype == "uint16") return whole(a, 16);
  if (dtype == "int32" || dtype == "uint32") return whole(a, 32);
  throw Error(
      {.attempted = "round numbers to a data type",
       .value = fmt::format("'{}'", dtype),
       .accepted = "bfloat16, float32, bfloat8_b, bfloat4_b, uint8, uint16, int32, uint32"});
}

}  // namespace howard::arrays
