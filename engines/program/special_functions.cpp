// SPDX-License-Identifier: Apache-2.0
#include "engines/program/special_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace howard::special {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// From this number on, the asymptotic series is exact to a double.
constexpr double kAsymptotic = 12;

double asymptotic_digamma(double x) {
  const double y = 1 / (x * x);
  return std::log(x) - 0.5 / x -
         y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240))));
}

double asymptotic_polygamma(int order, double x) {
  constexpr double kBernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66};
  double series = std::tgamma(order) / std::pow(x, order) +
                  std::tgamma(order + 1.0) / (2 * std::pow(x, order + 1));
  for (int k = 1; k <= 5; ++k) {
    series += kBernoulli[k - 1] * std::tgamma(2.0 * k + order) /
              (std::tgamma(2.0 * k + 1) * std::pow(x, 2 * k + order));
  }
  return order % 2 == 0 ? -series : series;
}

}  // namespace

double erfinv(double x) {
  if (!(std::fabs(x) < 1)) return std::fabs(x) == 1 ? std::copysign(kInfinity, x) : kNaN;
  // This is Winitzki's closed form, made exact by Newton's steps.
  constexpr double kA = 0.147;
  const double logarithm = std::log1p(-x * x);
  const double term = 2 / (std::numbers::pi * kA) + logarithm / 2;
  double root = std::copysign(std::sqrt(std::sqrt(term * term - logarithm / kA) - term), x);
  for (int step = 0; step < 3; ++step) {
    const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-root * root);
    // Near 1, erf has no digits left, but its complement has.
    const double error = x > 0 ? (1 - x) - std::erfc(root) : std::erfc(-root) - (1 + x);
    root -= error / slope;
  }
  return root;
}

double bessel(int order, double x) {
  // The power series converges for all x.
  const double half = x / 2;
  double term = order == 0 ? 1 : half;
  double sum = term;
  for (int k = 1; k < 500 && std::fabs(term) > 1e-17 * std::fabs(sum); ++k) {
    term *= half * half / (double{1} * k * (k + order));
    sum += term;
  }
  return sum;
}

double polygamma(int order, double x) {
  if (std::isinf(x)) return x < 0 ? kNaN : (order == 0 ? x : 0);
  if (x == 0 && order == 0) return -std::copysign(kInfinity, x);
  // The recurrence moves x to where the series holds; its terms are (-1)^n n! / x^(n+1).
  const double sign = order % 2 == 0 ? -1 : 1;
  const double factorial = std::tgamma(order + 1.0);
  double sum = 0;
  for (; x < kAsymptotic; x += 1) {
    if (x <= 0 && x == std::floor(x)) return order == 0 ? kNaN : sign * kInfinity;
    sum += sign * factorial / std::pow(x, order + 1);
  }
  return sum + (order == 0 ? asymptotic_digamma(x) : asymptotic_polygamma(order, x));
}

double multigammaln(int order, double x) {
  double sum = order * (order - 1) / 4.0 * std::log(std::numbers::pi);
  for (int i = 0; i < order; ++i) sum += std::lgamma(x - i / 2.0);
  return sum;
}

}  // namespace howard::special
