// SPDX-License-Identifier: Apache-2.0
#include "engines/arrays/unary_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace howard::arrays {
namespace {

constexpr double kSqrtHalf = 1 / std::numbers::sqrt2;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu(double x) { return x * std::erfc(-x * kSqrtHalf) / 2; }
double softplus(double x, double beta, double threshold) {
  return beta * x > threshold ? x : std::log1p(std::exp(beta * x)) / beta;
}
double hardsigmoid(double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }
double gelu_tanh(double x) {
  const double cube = x + 0.044715 * x * x * x;
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * cube));
}
double truth(bool is) { return is ? 1 : 0; }
double rounded_to(double x, double decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::nearbyint(x * scale) / scale;
}
double multigammaln(double x, double order) {
  double sum = order * (order - 1) / 4 * std::log(std::numbers::pi);
  for (int i = 0; i < static_cast<int>(order); ++i) sum += std::lgamma(x - i / 2.0);
  return sum;
}
double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

constexpr auto kFunctions = std::to_array<UnaryFunction>({
    {"abs", [](double x, const double*) { return std::fabs(x); }},
    {"acos", [](double x, const double*) { return std::acos(x); }},
    {"acosh", [](double x, const double*) { return std::acosh(x); }},
    {"asin", [](double x, const double*) { return std::asin(x); }},
    {"asinh", [](double x, const double*) { return std::asinh(x); }},
    {"atan", [](double x, const double*) { return std::atan(x); }},
    {"atanh", [](double x, const double*) { return std::atanh(x); }},
    {"sin", [](double x, const double*) { return std::sin(x); }},
    {"cos", [](double x, const double*) { return std::cos(x); }},
    {"tan", [](double x, const double*) { return std::tan(x); }},
    {"sinh", [](double x, const double*) { return std::sinh(x); }},
    {"cosh", [](double x, const double*) { return std::cosh(x); }},
    {"tanh", [](double x, const double*) { return std::tanh(x); }},
    {"cbrt", [](double x, const double*) { return std::cbrt(x); }},
    {"ceil", [](double x, const double*) { return std::ceil(x); }},
    {"floor", [](double x, const double*) { return std::floor(x); }},
    {"trunc", [](double x, const double*) { return std::trunc(x); }},
    {"frac", [](double x, const double*) { return x - std::trunc(x); }},
    {"round", [](double x, const double* p) { return rounded_to(x, p[0]); }, 1},
    {"erf", [](double x, const double*) { return std::erf(x); }},
    {"erfc", [](double x, const double*) { return std::erfc(x); }},
    {"erfinv", [](double x, const double*) { return inverse_erf(x); }},
    {"exp", [](double x, const double*) { return std::exp(x); }},
    {"exp2", [](double x, const double*) { return std::exp2(x); }},
    {"expm1", [](double x, const double*) { return std::expm1(x); }},
    {"log", [](double x, const double*) { return std::log(x); }},
    {"log2", [](double x, const double*) { return std::log2(x); }},
    {"log10", [](double x, const double*) { return std::log10(x); }},
    {"log1p", [](double x, const double*) { return std::log1p(x); }},
    {"sqrt", [](double x, const double*) { return std::sqrt(x); }},
    {"rsqrt", [](double x, const double*) { return 1 / std::sqrt(x); }},
    {"square", [](double x, const double*) { return x * x; }},
    {"reciprocal", [](double x, const double*) { return 1 / x; }},
    {"neg", [](double x, const double*) { return -x; }},
    {"sign", [](double x, const double*) { return sign_of(x); }},
    {"signbit", [](double x, const double*) { return truth(std::signbit(x)); }},
    {"relu", [](double x, const double*) { return x < 0 ? 0.0 : x; }},
    {"relu6", [](double x, const double*) { return std::clamp(x, 0.0, 6.0); }},
    {"relu_min", [](double x, const double* p) { return std::max(x, p[0]); }, 1},
    {"relu_max", [](double x, const double* p) { return std::clamp(x, 0.0, std::max(0.0, p[0])); }, 1},
    {"leaky_relu", [](double x, const double* p) { return x < 0 ? p[0] * x : x; }, 1},
    {"elu", [](double x, const double* p) { return x < 0 ? p[0] * std::expm1(x) : x; }, 1},
    {"celu", [](double x, const double* p) { return x < 0 ? p[0] * std::expm1(x / p[0]) : x; }, 1},
    {"selu",
     [](double x, const double*) {
       constexpr double kScale = 1.0507009873554805, kAlpha = 1.6732632423543772;
       return kScale * (x < 0 ? kAlpha * std::expm1(x) : x);
     }},
    {"gelu", [](double x, const double*) { return gelu(x); }},
    {"gelu_approx", [](double x, const double*) { return gelu_tanh(x); }},
    {"silu", [](double x, const double*) { return x * sigmoid(x); }},
    {"sigmoid", [](double x, const double*) { return sigmoid(x); }},
    {"log_sigmoid", [](double x, const double*) { return -softplus(-x, 1, 1e300); }},
    {"softplus", [](double x, const double* p) { return softplus(x, p[0], p[1]); }, 2},
    {"softsign", [](double x, const double*) { return x / (1 + std::fabs(x)); }},
    {"mish", [](double x, const double*) { return x * std::tanh(softplus(x, 1, 30)); }},
    {"hardmish", [](double x, const double*) { return x * std::clamp(x + 2.8, 0.0, 5.0) / 5; }},
    {"hardsigmoid", [](double x, const double*) { return hardsigmoid(x); }},
    {"hardswish", [](double x, const double*) { return x * hardsigmoid(x); }},
    {"hardshrink", [](double x, const double* p) { return std::fabs(x) > p[0] ? x : 0; }, 1},
    {"softshrink",
     [](double x, const double* p) { return x > p[0] ? x - p[0] : x < -p[0] ? x + p[0] : 0; }, 1},
    {"hardtanh", [](double x, const double* p) { return std::fmin(std::fmax(x, p[0]), p[1]); }, 2},
    {"clamp", [](double x, const double* p) { return std::fmin(std::fmax(x, p[0]), p[1]); }, 2},
    {"tanhshrink", [](double x, const double*) { return x - std::tanh(x); }},
    {"threshold", [](double x, const double* p) { return x > p[0] ? x : p[1]; }, 2},
    {"heaviside", [](double x, const double* p) { return x == 0 ? p[0] : truth(x > 0); }, 1},
    {"i0", [](double x, const double*) { return bessel_i0(x); }},
    {"i1", [](double x, const double*) { return bessel_i1(x); }},
    {"isfinite", [](double x, const double*) { return truth(std::isfinite(x)); }},
    {"isinf", [](double x, const double*) { return truth(std::isinf(x)); }},
    {"isnan", [](double x, const double*) { return truth(std::isnan(x)); }},
    {"isposinf", [](double x, const double*) { return truth(std::isinf(x) && x > 0); }},
    {"isneginf", [](double x, const double*) { return truth(std::isinf(x) && x < 0); }},
    {"logical_not", [](double x, const double*) { return truth(x == 0); }},
    {"bitwise_not",
     [](double x, const double*) {
       return static_cast<double>(~static_cast<std::int32_t>(static_cast<std::int64_t>(x)));
     }},
    {"eqz", [](double x, const double*) { return truth(x == 0); }},
    {"nez", [](double x, const double*) { return truth(x != 0); }},
    {"gtz", [](double x, const double*) { return truth(x > 0); }},
    {"ltz", [](double x, const double*) { return truth(x < 0); }},
    {"gez", [](double x, const double*) { return truth(x >= 0); }},
    {"lez", [](double x, const double*) { return truth(x <= 0); }},
    {"identity", [](double x, const double*) { return x; }},
    {"fill", [](double, const double* p) { return p[0]; }, 1},
    {"rad2deg", [](double x, const double*) { return x * 180 / std::numbers::pi; }},
    {"deg2rad", [](double x, const double*) { return x * std::numbers::pi / 180; }},
    {"digamma", [](double x, const double*) { return polygamma(0, x); }},
    {"lgamma", [](double x, const double*) { return std::lgamma(x); }},
    {"multigammaln", [](double x, const double* p) { return multigammaln(x, p[0]); }, 1},
    {"polygamma", [](double x, const double* p) { return polygamma(static_cast<int>(p[0]), x); }, 1},
    {"logit",
     [](double x, const double* p) {
       const double y = p[0] >= 0 ? std::clamp(x, p[0], 1 - p[0]) : x;
       return std::log(y / (1 - y));
     },
     1},
});

}  // namespace

std::span<const UnaryFunction> unary_functions() { return kFunctions; }

}  // namespace howard::arrays
