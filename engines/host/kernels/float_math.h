// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "engines/host/instruction_set.h"

namespace howard::host {

// Functions of one float without a branch or a call, so that the compiler can vectorise loops over
// them, and with the same result on every instruction set. The relative errors are of the result
// and over all arguments whose result is 1e-36 at least; smaller ones may be 0. The tests
// measure them against double. The polynomials are Chebyshev fits made for this file with mpmath's
// chebyfit; with each stand the function, the interval and the error of the fit.

/// `condition ? yes : no` by way of the bits: of a plain choice the compiler may make a branch, and
/// then compute twice what both sides need.
HOWARD_INLINE inline float choose(bool condition, float yes, float no) {
  const std::uint32_t mask = -static_cast<std::uint32_t>(condition);
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(yes) & mask) |
                              (std::bit_cast<std::uint32_t>(no) & ~mask));
}

/// exp(x + rest) for a small rest (at most 0.1 in magnitude), x from -87 to 88; what it makes of
/// other numbers is to be thrown away, but NaN stays NaN.
HOWARD_INLINE inline float exp_of_sum(float x, float rest) {
  // 1.5 * 2^23: adding it rounds to the next integer, which then stands in the lowest bits.
  constexpr float kRounding = 12582912.0F;
  const float shifted = x * 1.44269504F + kRounding;
  const float n = shifted - kRounding;
  // log(2) in two parts, the first of 10 bits: n times it is exact.
  const float r = ((x - n * 0.693359375F) + n * 2.12194440e-4F) + rest;
  // (exp(r) - 1 - r) / r^2 on |r| < 0.35: 7e-8, of a term that is below 0.07.
  float p = 0.001392692661F;
  p = p * r + 0.008363773874F;
  p = p * r + 0.04166655011F;
  p = p * r + 0.1666657338F;
  p = p * r + 0.5F;
  p = p * (r * r) + r + 1.0F;
  // Times 2^n: the exponent begins at bit 23, and the bits above n's own fall out.
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) +
                              (std::bit_cast<std::uint32_t>(shifted) << 23));
}

/// Error 2e-7. 0 where the result is not a normal number, infinity from 88.72.
HOWARD_INLINE inline float exp_of(float x) {
  constexpr float kSmallest = -87.33654F;  // log(2^-126)
  constexpr float kLargest = 88.72283F;    // log(2^128)
  const float bounded = choose(x > kLargest, INFINITY, exp_of_sum(x, -0.0F));
  return choose(x < kSmallest, 0.0F, bounded);
}

/// exp(x^2) erfc(x), 0 <= x <= 10.3.
HOWARD_INLINE inline float scaled_erfc_of(float x) {
  // In u = 1 / (1 + 0.35 x), divided by u: 2e-8.
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

/// Error 4e-7.
HOWARD_INLINE inline float erf_of(float x) {
  const float magnitude = std::fabs(x);
  const float y = x * x;
  // erf(x) / x in x^2 up to 0.85^2: 6e-9.
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

/// A value of the standard normal distribution: its density times sqrt(2 pi), and the probability
/// of a smaller one.
struct Normal {
  float bell;
  float below;
};

/// From this magnitude on, the bell is taken as 0: it is below 2^-126 there.
inline constexpr float kBellEnd = 13.2F;

HOWARD_INLINE inline Normal normal_of(float x) {
  const float magnitude = std::fabs(x);
  // The square is taken in two parts, as the rounding of a large one would be an error of as many
  // ulps: x^2 = high^2 + (x - high)(x + high), high being the upper 12 bits.
  const float high = std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) & 0xffff'f000U);
  const float rest = (magnitude - high) * (magnitude + high);
  const float exact = exp_of_sum(-0.5F * (high * high), -0.5F * rest);
  const float bell = choose(magnitude > kBellEnd, 0.0F, exact);
  const float tail = 0.5F * bell * scaled_erfc_of(magnitude * 0.707106781F);
  return {bell, choose(x < 0.0F, tail, 1.0F - tail)};
}

/// x times the probability of a standard normal value below x; exact, not the tanh formula. Error
/// 1e-6, in the tail too.
HOWARD_INLINE inline float gelu_of(float x) {
  return choose(x < -kBellEnd, 0.0F, x * normal_of(x).below);  // Minus infinity times 0 is NaN.
}

/// The derivative of gelu_of. Error 1e-6 of the larger of its two terms.
HOWARD_INLINE inline float gelu_slope_of(float x) {
  const Normal normal = normal_of(x);
  const float product = choose(std::fabs(x) > kBellEnd, 0.0F, x * (normal.bell * 0.398942280F));
  return normal.below + product;
}

/// 1 / (1 + exp(-x)). Error 4e-7.
HOWARD_INLINE inline float sigmoid_of(float x) {
  // Of the magnitude, so that the exponential never overflows.
  const float small = exp_of(-std::fabs(x));
  const float share = 1.0F / (1.0F + small);
  return choose(x < 0.0F, small * share, share);
}

/// x sigmoid(x). Error 5e-7.
HOWARD_INLINE inline float silu_of(float x) {
  return choose(x < -87.0F, 0.0F, x * sigmoid_of(x));  // Minus infinity times 0 is NaN.
}

/// The derivative of silu_of. Error 1e-6 of the larger of its two terms.
HOWARD_INLINE inline float silu_slope_of(float x) {
  const float s = sigmoid_of(x);
  // 1 - s has no digits left where x is large.
  const float rest = choose(std::fabs(x) > 87.0F, 0.0F, x * s * sigmoid_of(-x));
  return s + rest;
}

}  // namespace howard::host
