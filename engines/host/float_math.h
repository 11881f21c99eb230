// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "engines/host/instruction_set.h"

namespace howard::host {

// Functions of one float without a branch or a call, so that the compiler can vectorise loops over
// them, and with the same result on every instruction set. The relative errors, of the result and
// over all arguments whose result is a normal number, are those the tests measure against double.
// The polynomials are Chebyshev fits made for this file with mpmath's chebyfit; with each stand
// function, interval and relative error of the fit.

/// exp(x + rest) for a small rest (at most 0.1 in magnitude). 0 below -104, infinity from 89.
HOWARD_INLINE inline float exp_of_sum(float x, float rest) {
  x = x < -104.0F ? -104.0F : x;
  x = x > 89.0F ? 89.0F : x;
  // 1.5 * 2^23: adding it rounds to the next integer, which then stands in the lowest bits.
  constexpr float kRounding = 12582912.0F;
  const float shifted = x * 1.44269504F + kRounding;
  const float n = shifted - kRounding;
  const std::int32_t power =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRounding);
  // log(2) in two parts, the first of 10 bits: n times it is exact.
  const float r = ((x - n * 0.693359375F) + n * 2.12194440e-4F) + rest;
  // (exp(r) - 1 - r) / r^2 on |r| < 0.35: 7e-8, of a term that is below 0.07.
  float p = 0.001392692661F;
  p = p * r + 0.008363773874F;
  p = p * r + 0.04166655011F;
  p = p * r + 0.1666657338F;
  p = p * r + 0.5F;
  p = p * (r * r) + r + 1.0F;
  // 2^power in two factors: each is a normal number where the result is not.
  const std::int32_t half = power >> 1;
  const auto power_of_two = [](std::int32_t exponent) HOWARD_INLINE {
    return std::bit_cast<float>((exponent + 127) << 23);
  };
  return p * power_of_two(half) * power_of_two(power - half);
}

/// Error 2e-7.
HOWARD_INLINE inline float exp_of(float x) { return exp_of_sum(x, 0.0F); }

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

/// exp(-x^2 / 2), x >= 0. The square is taken in two parts, as the rounding of a large one would be
/// an error of as many ulps: x^2 = high^2 + (x - high)(x + high), high being the upper 12 bits.
HOWARD_INLINE inline float bell_of(float x) {
  const float high = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffff'f000U);
  return exp_of_sum(-0.5F * (high * high), -0.5F * ((x - high) * (x + high)));
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
  const float inner = x * p;
  const float bounded = magnitude > 4.5F ? 4.5F : magnitude;  // There, erfc is below half an ulp.
  const float outer = 1.0F - exp_of(-(bounded * bounded)) * scaled_erfc_of(bounded);
  return magnitude < 0.85F ? inner : std::copysign(outer, x);
}

/// A value of the standard normal distribution: its density times sqrt(2 pi), and the probability
/// of a smaller one.
struct Normal {
  float bell;
  float below;
};

HOWARD_INLINE inline Normal normal_of(float x) {
  const float magnitude = std::fabs(x);
  const float bounded = magnitude > 14.5F ? 14.5F : magnitude;  // There, the bell is 0.
  const float bell = bell_of(bounded);
  const float tail = 0.5F * bell * scaled_erfc_of(bounded * 0.707106781F);
  return {bell, x < 0.0F ? tail : 1.0F - tail};
}

/// x times the probability of a standard normal value below x; exact, not the tanh formula. Error
/// 1e-6, in the tail too.
HOWARD_INLINE inline float gelu_of(float x) {
  const float bounded = x < -14.5F ? -14.5F : x;  // Minus infinity would give a NaN.
  return bounded * normal_of(x).below;
}

/// The derivative of gelu_of. Error 1e-6 of the larger of its two terms.
HOWARD_INLINE inline float gelu_slope_of(float x) {
  const Normal normal = normal_of(x);
  const float limited = x > 14.5F ? 14.5F : (x < -14.5F ? -14.5F : x);
  return normal.below + limited * (normal.bell * 0.398942280F);
}

}  // namespace howard::host
