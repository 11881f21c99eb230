// SPDX-License-Identifier: Apache-2.0
#include "engines/device/rounding.h"

#include <algorithm>
#include <cmath>

#include "engines/device/bfloat16.h"

namespace howard {
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

void round_blocks(std::span<float> values, std::size_t width, int bits) {
  for (std::size_t row = 0; row < values.size(); row += width) {
    for (std::size_t at = 0; at < width; at += kBlock) {
      round_block(values.subspan(row + at, std::min(kBlock, width - at)), bits);
    }
  }
}

}  // namespace

void round_to(DataType dtype, std::span<float> values, std::size_t width) {
  switch (dtype) {
    case DataType::bfloat16:
      std::ranges::transform(values, values.begin(), rounded_to_bfloat16);
      break;
    case DataType::bfloat8_b:
      round_blocks(values, width, 7);
      break;
    case DataType::bfloat4_b:
      round_blocks(values, width, 3);
      break;
    default:
      break;
  }
}

}  // namespace howard
