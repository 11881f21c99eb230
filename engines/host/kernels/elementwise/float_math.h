// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "engines/host/instruction_set.h"

namespace howard::host {

// Functions of one float without a branch or a call, so that the compiler can vectorise loops over
// them. They give the same result on every instruction set. The errors stated are relative to the
// result and hold for all arguments whose result is at least 1e-36; smaller results may become 0.
// The tests measure the errors against double. The polynomials are Chebyshev fits made for this
// file with mpmath's chebyfit; beside each stand the function, the interval and the error of the
// fit.

/// Returns `condition ? yes : no`, computed on the bits. The compiler may turn a plain choice into
/// a branch, and then compute twice what both sides need.
HOWARD_INLINE inline float choose(bool condition, float yes, float no) {
  const std::uint32_t mask = -static_cast<std::uint32_t>(condition);
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(yes) & mask) |
                              (std::bit_cast<std::uint32_t>(no) & ~mask));
}

/// Returns exp(x + rest) for x from -87 to 88 and a small rest (at most 0.1 in magnitude). The
/// results for other numbers must not be used, but NaN stays NaN.
HOWARD_INLINE inline float exp_of_sum(float x, float rest) {
  // Adding 1.5 * 2^23 rounds to the next integer, which then stands in the lowest bits.
  constexpr float kRounding = 12582912.0F;
  const float shifted = x * 1.44269504F + kRounding;
  const float n = shifted - kRounding;
  // log(2) is split in two parts, the first of 10 bits, so that n times the first part is exact.
  const float r = ((x - n * 0.693359375F) + n * 2.12194440e-4F) + rest;
  // A fit of (exp(r) - 1 - r) / r^2 on |r| < 0.35; its error is 7e-8, of a term that is below 0.07.
  float p = 0.001392692661F;
  p = p * r + 0.008363773874F;
  p = p * r + 0.04166655011F;
  p = p * r + 0.1666657338F;
  p = p * r + 0.5F;
  p = p * (r * r) + r + 1.0F;
  // Multiply by 2^n: the exponent begins at bit 23, and the bits above n's own are shifted out.
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) +
                              (std::bit_cast<std::uint32_t>(shifted) << 23));
}

/// Returns exp(x) with error 2e-7. The result is 0 where it would not be a normal number, and
/// infinity from 88.72.
HOWARD_INLINE inline float exp_of(float x) {
  constexpr float kSmallest = -87.33654F;  // log(2^-126)
  constexpr float kLargest = 88.72283F;    // log(2^128)
  const float bounded = choose(x > kLargest, INFINITY, exp_of_sum(x, -0.0F));
  return choose(x < kSmallest, 0.0F, bounded);
}

/// Returns exp(x^2) erfc(x) for 0 <= x <= 10.3.
HOWARD_INLINE inline float scaled_erfc_of(float x) {
  // A fit in u = 1 / (1 + 0.35 x), divided by u; its error is 2e-8.
  const float u = 1.0F / (1.0F + 0.35F * x);
  float p = 0.0371641657F;
  p = p * u - 0.15241948F;
  p = p * u + 0.166692122F;
  p = p * u - 0.00878984168F;
  p = p * u + 0.0719912978F;
  p = p * u + 0.153699423F;
  p = p * u + 0.14869079F;
  p = p * u + 0.188402575F;
  p = p * u + 0.197082536F;
  p = p * u + 0.197486416F;
  return p * u;
}

/// Returns erf(x) with error 4e-7.
HOWARD_INLINE inline float erf_of(float x) {
  const float magnitude = std::fabs(x);
  const float y = x * x;
  // A fit of erf(x) / x in x^2 up to 0.85^2; its error is 6e-9.
  float p = -0.0006325501609F;
  p = p * y + 0.005052985193F;
  p = p * y - 0.02680375674F;
  p = p * y + 0.1128274908F;
  p = p * y - 0.3761257476F;
  p = p * y + 1.128379161F;
  // From 4.5 on, erfc is below half an ulp of 1.
  const float bounded = choose(magnitude > 4.5F, 4.5F, magnitude);
  const float erfc = exp_of_sum(-(bounded * bounded), -0.0F) * scaled_erfc_of(bounded);
  return choose(magnitude < 0.85F, x * p, std::copysign(1.0F - erfc, x));
}

/// The standard normal distribution at a value: its density times sqrt(2 pi), and the probability
/// of a smaller value.
struct Normal {
  float bell;
  float below;
};

/// From this magnitude on, the bell is taken as 0: it is below 2^-126 there.
inline constexpr float kBellEnd = 13.2F;

HOWARD_INLINE inline Normal normal_of(float x) {
  const float magnitude = std::fabs(x);
  // The square is taken in two parts, since rounding a large square would cause an error of as many
  // ulps: x^2 = high^2 + (x - high)(x + high), where high is the upper 12 bits.
  const float high = std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) & 0xffff'f000U);
  const float rest = (magnitude - high) * (magnitude + high);
  const float exact = exp_of_sum(-0.5F * (high * high), -0.5F * rest);
  const float bell = choose(magnitude > kBellEnd, 0.0F, exact);
  const float tail = 0.5F * bell * scaled_erfc_of(magnitude * 0.707106781F);
  return {bell, choose(x < 0.0F, tail, 1.0F - tail)};
}

/// Returns x times the probability of a standard normal value below x. This is the exact gelu, not
/// the tanh formula. The error is 1e-6, in the tail too.
HOWARD_INLINE inline float gelu_of(float x) {
  // Minus infinity times 0 would be NaN.
  return choose(x < -kBellEnd, 0.0F, x * normal_of(x).below);
}

/// Returns the derivative of gelu_of. The error is 1e-6 of the larger of its two terms.
HOWARD_INLINE inline float gelu_slope_of(float x) {
  const Normal normal = normal_of(x);
  const float product = choose(std::fabs(x) > kBellEnd, 0.0F, x * (normal.bell * 0.398942280F));
  return normal.below + product;
}

/// Returns 1 / (1 + exp(-x)) with error 4e-7.
HOWARD_INLINE inline float sigmoid_of(float x) {
  // This uses the magnitude, so that the exponential never overflows.
  const float small = exp_of(-std::fabs(x));
  const float share = 1.0F / (1.0F + small);
  return choose(x < 0.0F, small * share, share);
}

/// Returns x sigmoid(x) with error 5e-7.
HOWARD_INLINE inline float silu_of(float x) {
  return choose(x < -87.0F, 0.0F, x * sigmoid_of(x));  // Minus infinity times 0 is NaN.
}

/// Returns the derivative of silu_of. The error is 1e-6 of the larger of its two terms.
HOWARD_INLINE inline float silu_slope_of(float x) {
  const float s = sigmoid_of(x);
  // For large x, 1 - s has no digits left.
  const float rest = choose(std::fabs(x) > 87.0F, 0.0F, x * s * sigmoid_of(-x));
  return s + rest;
}

}  // namespace howard::host
