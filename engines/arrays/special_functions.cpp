// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <numbers>

#include "engines/arrays/unary_functions.h"

namespace howard::arrays {
namespace {

/// From this number on, the asymptotic series is exact to a double.
constexpr double kAsymptotic = 12;

double power_series(double x, double first, double order) {
  double term = first, sum = first;
  for (int k = 1; k < 500 && std::fabs(term) > 1e-17 * std::fabs(sum); ++k) {
    term *= x * x / 4 / (k * (k + order));
    sum += term;
  }
  return sum;
}

}  // namespace

double polygamma(int order, double x) {
  // The recurrence moves x to where the series holds; its terms are (-1)^n n! / x^(n+1).
  const double sign = order % 2 == 0 ? -1 : 1;
  const double factorial = std::tgamma(order + 1.0);
  double sum = 0;
  for (; x < kAsymptotic; x += 1) {
    if (x <= 0 && x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    sum += sign * factorial / std::pow(x, order + 1);
  }
  if (order == 0) {
    const double y = 1 / (x * x);
    return sum + std::log(x) - 0.5 / x -
           y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240))));
  }
  constexpr double kBernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66};
  double series =
      std::tgamma(order) / std::pow(x, order) + factorial / (2 * std::pow(x, order + 1));
  for (int k = 1; k <= 5; ++k) {
    series += kBernoulli[k - 1] * std::tgamma(2.0 * k + order) /
              (std::tgamma(2.0 * k + 1) * std::pow(x, 2 * k + order));
  }
  return sum + sign * series;
}

double bessel_i0(double x) { return power_series(x, 1, 0); }

double bessel_i1(double x) { return power_series(x, x / 2, 1); }

double inverse_erf(double x) {
  if (x <= -1 || x >= 1) {
    const double infinity = std::numeric_limits<double>::infinity();
    if (std::fabs(x) == 1) return x * infinity;
    return std::numeric_limits<double>::quiet_NaN();
  }
  // This is Winitzki's approximation, followed by Newton's steps to the precision of a double.
  constexpr double kA = 0.147;
  const double log = std::log(1 - x * x);
  const double middle = 2 / (std::numbers::pi * kA) + log / 2;
  double y = std::copysign(std::sqrt(std::sqrt(middle * middle - log / kA) - middle), x);
  for (int i = 0; i < 3; ++i) {
    y -= (std::erf(y) - x) / (2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
  }
  return y;
}

}  // namespace howard::arrays
