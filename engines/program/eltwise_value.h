// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <type_traits>
#include <utility>

#include "engines/program/eltwise.h"
#include "engines/program/eltwise_fixed.h"
#include "engines/program/eltwise_whole.h"

namespace howard {

/// The values and the numbers of an elementwise function.
template <class Real>
struct EltwiseArguments {
  Real x{}, y{}, z{};
  Real first{}, second{};
};

namespace eltwise_detail {

template <class Real>
Real sigmoid(Real x) {
  return 1 / (1 + std::exp(-x));
}

/// Computes log(1 + exp(x)) without overflow.
template <class Real>
Real log_of_one_and_exp(Real x) {
  return std::max(x, Real{0}) + std::log1p(std::exp(-std::fabs(x)));
}

template <class Real>
Real gelu(Real x) {
  return x * std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2;
}

/// Computes x - y floor(x / y), which has the sign of y.
template <class Real>
Real remainder(Real x, Real y) {
  const Real rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

/// Computes floor(x / y) as PyTorch does: exactly, where the quotient is rounded.
template <class Real>
Real floor_div(Real x, Real y) {
  if (y == 0) return x / y;
  const Real rest = std::fmod(x, y);
  const Real quotient = (x - rest) / y - (rest != 0 && (rest < 0) != (y < 0) ? 1 : 0);
  return std::nearbyint(quotient);
}

/// Computes log(exp(x) + exp(y)), where `tail` gives log(1 + exp(-distance)).
template <class Real, class Tail>
Real log_of_sum(Real x, Real y, const Tail& tail) {
  return x == y && std::isinf(x) ? x : std::max(x, y) + tail(std::fabs(x - y));
}

/// Computes functions of two values.
template <Eltwise kFunction, class Real>
Real of_two(const EltwiseArguments<Real>& with) {
  const auto [x, y, z, first, second] = with;
  using E = Eltwise;
  if constexpr (kFunction >= E::bitwise_and && kFunction <= E::logical_right_shift) {
    return static_cast<Real>(static_cast<std::int32_t>(of_whole<kFunction>(whole(x), whole(y))));
  }
  if constexpr (kFunction == E::add) return x + y;
  if constexpr (kFunction == E::subtract) return x - y;
  if constexpr (kFunction == E::multiply) return x * y;
  if constexpr (kFunction == E::divide) return x / y;
  if constexpr (kFunction == E::rsub) return y - x;
  if constexpr (kFunction == E::squared_difference) return (x - y) * (x - y);
  if constexpr (is_comparison(kFunction)) return holds<kFunction>(x, y) ? 1 : 0;
  if constexpr (kFunction == E::maximum) return x > y || x != x ? x : y;
  if constexpr (kFunction == E::minimum) return x < y || x != x ? x : y;
  if constexpr (kFunction == E::pow) return std::pow(x, y);
  if constexpr (kFunction == E::remainder) return remainder(x, y);
  if constexpr (kFunction == E::fmod) return std::fmod(x, y);
  if constexpr (kFunction == E::hypot) return std::hypot(x, y);
  if constexpr (kFunction == E::xlogy) return x == 0 && y == y ? Real{0} : x * std::log(y);
  if constexpr (kFunction == E::atan2) return std::atan2(x, y);
  if constexpr (kFunction == E::ldexp) return x * std::exp2(y);
  if constexpr (kFunction == E::logaddexp) {
    return log_of_sum(x, y, [](Real distance) { return std::log1p(std::exp(-distance)); });
  }
  if constexpr (kFunction == E::logaddexp2) {
    return log_of_sum(x, y, [](Real distance) {
      return std::log1p(std::exp2(-distance)) / std::numbers::ln2_v<Real>;
    });
  }
  if constexpr (kFunction == E::bias_gelu) return gelu(x + y);
  if constexpr (kFunction == E::addalpha) return x + first * y;
  if constexpr (kFunction == E::subalpha) return x - first * y;
  if constexpr (kFunction == E::gcd) return static_cast<Real>(std::gcd(whole(x), whole(y)));
  if constexpr (kFunction == E::lcm) return static_cast<Real>(std::lcm(whole(x), whole(y)));
  if constexpr (kFunction == E::div_no_nan) return y == 0 ? Real{0} : x / y;
  if constexpr (kFunction == E::floor_div) return floor_div(x, y);
  if constexpr (kFunction == E::trunc_div) return std::trunc(x / y);
  if constexpr (kFunction == E::prelu) return x > 0 ? x : x * y;
  if constexpr (kFunction == E::nextafter) {
    return static_cast<Real>(std::nextafter(static_cast<float>(x), static_cast<float>(y)));
  }
  if constexpr (kFunction == E::silu_backward) {
    const Real s = sigmoid(x);
    return y * s * (1 + x * (1 - s));
  }
}

/// Computes functions of one value that only choose, count or take a few products.
template <Eltwise kFunction, class Real>
Real short_one(const EltwiseArguments<Real>& with) {
  const auto [x, y, z, first, second] = with;
  using E = Eltwise;
  // If x or a limit is NaN, x stays as it is. Of limits in the wrong order the upper one counts.
  const auto between = [](Real value, Real low, Real high) {
    const Real least = value < low ? low : value;
    return least > high ? high : least;
  };
  if constexpr (kFunction == E::relu) return x < 0 ? Real{0} : x;
  if constexpr (kFunction == E::gtz) return x > 0 ? 1 : 0;
  if constexpr (kFunction == E::square) return x * x;
  if constexpr (kFunction == E::cast || kFunction == E::identity) return x;
  if constexpr (kFunction == E::abs) return std::fabs(x);
  if constexpr (kFunction == E::neg) return -x;
  if constexpr (kFunction == E::sign) return static_cast<Real>((x > 0) - (x < 0));
  if constexpr (kFunction == E::signbit) return std::signbit(x) ? 1 : 0;
  if constexpr (kFunction == E::eqz || kFunction == E::logical_not) return x == 0 ? 1 : 0;
  if constexpr (kFunction == E::nez) return x != 0 ? 1 : 0;
  if constexpr (kFunction == E::ltz) return x < 0 ? 1 : 0;
  if constexpr (kFunction == E::lez) return x <= 0 ? 1 : 0;
  if constexpr (kFunction == E::gez) return x >= 0 ? 1 : 0;
  if constexpr (kFunction == E::isfinite) return std::isfinite(x) ? 1 : 0;
  if constexpr (kFunction == E::isinf) return std::isinf(x) ? 1 : 0;
  if constexpr (kFunction == E::isnan) return std::isnan(x) ? 1 : 0;
  if constexpr (kFunction == E::isposinf) return std::isinf(x) && x > 0 ? 1 : 0;
  if constexpr (kFunction == E::isneginf) return std::isinf(x) && x < 0 ? 1 : 0;
  if constexpr (kFunction == E::ceil) return std::ceil(x);
  if constexpr (kFunction == E::floor) return std::floor(x);
  if constexpr (kFunction == E::trunc) return std::trunc(x);
  if constexpr (kFunction == E::round) {
    if (first == 0) return std::nearbyint(x);
    const Real scale = std::pow(Real{10}, first);
    return std::nearbyint(x * scale) / scale;
  }
  if constexpr (kFunction == E::frac) return x - std::trunc(x);
  if constexpr (kFunction == E::rad2deg) return x * (180 / std::numbers::pi_v<Real>);
  if constexpr (kFunction == E::deg2rad) return x * (std::numbers::pi_v<Real> / 180);
  if constexpr (kFunction == E::relu6) return between(x, 0, 6);
  if constexpr (kFunction == E::relu_max) return between(x, 0, std::max(first, Real{0}));
  if constexpr (kFunction == E::relu_min) return x < first ? first : x;
  if constexpr (kFunction == E::leaky_relu) return x < 0 ? first * x : x;
  if constexpr (kFunction == E::clamp || kFunction == E::hardtanh) return between(x, first, second);
  if constexpr (kFunction == E::threshold) return x <= first ? second : x;
  if constexpr (kFunction == E::hardshrink) return std::fabs(x) <= first ? Real{0} : x;
  if constexpr (kFunction == E::softshrink) {
    return x > first ? x - first : (x < -first ? x + first : Real{0});
  }
  if constexpr (kFunction == E::hardsigmoid) return between(x / 6 + Real{0.5}, 0, 1);
  if constexpr (kFunction == E::hardswish) return x * between(x / 6 + Real{0.5}, 0, 1);
  if constexpr (kFunction == E::hardmish) return x * between(x + Real(2.8), 0, 5) / 5;
  if constexpr (kFunction == E::softsign) return x / (1 + std::fabs(x));
  if constexpr (kFunction == E::heaviside) return x == 0 ? first : (x > 0 ? 1 : 0);
  if constexpr (kFunction == E::bitwise_not) {
    return static_cast<Real>(static_cast<std::int32_t>(of_whole<kFunction>(whole(x), 0)));
  }
  if constexpr (kFunction == E::rdiv) return first / x;
}

/// Computes the other functions of one value.
template <Eltwise kFunction, class Real>
Real long_one(const EltwiseArguments<Real>& with) {
  const auto [x, y, z, first, second] = with;
  using E = Eltwise;
  if constexpr (kFunction == E::exp) return std::exp(x);
  if constexpr (kFunction == E::erf) return std::erf(x);
  if constexpr (kFunction == E::gelu) return gelu(x);
  if constexpr (kFunction == E::sqrt) return std::sqrt(x);
  if constexpr (kFunction == E::rsqrt) return 1 / std::sqrt(x);
  if constexpr (kFunction == E::reciprocal) return 1 / x;
  if constexpr (kFunction == E::exp2) return std::exp2(x);
  if constexpr (kFunction == E::expm1) return std::expm1(x);
  if constexpr (kFunction == E::log) return std::log(x);
  if constexpr (kFunction == E::log2) return std::log2(x);
  if constexpr (kFunction == E::log10) return std::log10(x);
  if constexpr (kFunction == E::log1p) return std::log1p(x);
  if constexpr (kFunction == E::log_sigmoid) return -log_of_one_and_exp(-x);
  if constexpr (kFunction == E::sigmoid) return sigmoid(x);
  if constexpr (kFunction == E::silu) return x / (1 + std::exp(-x));
  if constexpr (kFunction == E::mish) return x * std::tanh(log_of_one_and_exp(x));
  if constexpr (kFunction == E::tanh) return std::tanh(x);
  if constexpr (kFunction == E::tanhshrink) return x - std::tanh(x);
  if constexpr (kFunction == E::softplus) {
    return first * x > second ? x : log_of_one_and_exp(first * x) / first;
  }
  if constexpr (kFunction == E::elu) return x < 0 ? first * std::expm1(x) : x;
  if constexpr (kFunction == E::celu) return x < 0 ? first * std::expm1(x / first) : x;
  if constexpr (kFunction == E::selu) {
    return Real(1.0507009873554805) * (x < 0 ? Real(1.6732632423543772) * std::expm1(x) : x);
  }
  if constexpr (kFunction == E::erfc) return std::erfc(x);
  if constexpr (kFunction == E::logit) {
    if (first < 0) return std::log(x / (1 - x));
    const Real inside = x < first ? first : (x > 1 - first ? 1 - first : x);
    return std::log(inside / (1 - inside));
  }
  if constexpr (kFunction == E::sin) return std::sin(x);
  if constexpr (kFunction == E::cos) return std::cos(x);
  if constexpr (kFunction == E::tan) return std::tan(x);
  if constexpr (kFunction == E::asin) return std::asin(x);
  if constexpr (kFunction == E::acos) return std::acos(x);
  if constexpr (kFunction == E::atan) return std::atan(x);
  if constexpr (kFunction == E::sinh) return std::sinh(x);
  if constexpr (kFunction == E::cosh) return std::cosh(x);
  if constexpr (kFunction == E::asinh) return std::asinh(x);
  if constexpr (kFunction == E::acosh) return std::acosh(x);
  if constexpr (kFunction == E::atanh) return std::atanh(x);
  if constexpr (kFunction == E::cbrt) return std::cbrt(x);
  if constexpr (kFunction == E::gelu_approx) {
    const Real inner = x + Real(0.044715) * x * x * x;
    return x / 2 *
           (1 + std::tanh(std::numbers::sqrt2_v<Real> * std::numbers::inv_sqrtpi_v<Real> * inner));
  }
  if constexpr (kFunction == E::power) return std::pow(x, first);
  if constexpr (kFunction == E::rpow) return std::pow(first, x);
}

}  // namespace eltwise_detail

/// Computes kFunction of its arguments in float or double, or in whole numbers of 64 bits if it
/// takes whole numbers, as a device should.
template <Eltwise kFunction, class Real>
Real eltwise_value(const EltwiseArguments<Real>& with) {
  using E = Eltwise;
  if constexpr (std::is_same_v<Real, std::int64_t>) {
    return eltwise_detail::whole_value<kFunction>(with.x, with.y, with.z, with.first, with.second);
  } else if constexpr (kFunction <= E::silu_backward) {
    return eltwise_detail::of_two<kFunction>(with);
  } else if constexpr (kFunction <= E::rdiv) {
    return eltwise_detail::short_one<kFunction>(with);
  } else if constexpr (kFunction >= E::erfinv && kFunction <= E::multigammaln) {
    return static_cast<Real>(eltwise_detail::special_one<kFunction>(
        static_cast<double>(with.x), static_cast<double>(with.first)));
  } else if constexpr (kFunction <= E::rpow) {
    return eltwise_detail::long_one<kFunction>(with);
  } else if constexpr (kFunction == E::where) {
    return with.x != 0 ? with.y : with.z;
  } else if constexpr (kFunction == E::addcmul) {
    return with.x + with.first * with.y * with.z;
  } else if constexpr (kFunction == E::addcdiv) {
    return with.x + with.first * with.y / with.z;
  } else if constexpr (kFunction == E::lerp) {
    // Either end is exact, as PyTorch has it.
    const Real way = with.y - with.x;
    return with.z < Real{0.5} ? with.x + with.z * way : with.y - way * (1 - with.z);
  } else {
    return with.x;
  }
}

/// A function of its arguments.
template <class Real>
using EltwiseFunction = Real (*)(const EltwiseArguments<Real>&);

namespace eltwise_detail {

template <class Real, std::size_t... kIndices>
constexpr std::array<EltwiseFunction<Real>, kEltwiseFunctions> all_functions(
    std::index_sequence<kIndices...> /*of all*/) {
  return {eltwise_value<static_cast<Eltwise>(kIndices), Real>...};
}

}  // namespace eltwise_detail

/// Returns the function in float, double or std::int64_t, for one value after the other.
template <class Real>
EltwiseFunction<Real> eltwise_function(Eltwise function) {
  static constexpr auto kAll =
      eltwise_detail::all_functions<Real>(std::make_index_sequence<kEltwiseFunctions>());
  return kAll[static_cast<std::size_t>(function)];
}

}  // namespace howard
