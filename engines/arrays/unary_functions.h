// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace howard::arrays {

/// A function of one number. `p`: its parameters, as many as `parameters` says.
struct UnaryFunction {
  std::string_view name;
  double (*value)(double x, const double* p);
  int parameters = 0;
};

/// By name, in no order.
std::span<const UnaryFunction> unary_functions();

/// Derivatives of the logarithm of the gamma function: 0 is digamma.
double polygamma(int order, double x);
/// The modified Bessel functions of the first kind.
double bessel_i0(double x);
double bessel_i1(double x);
/// The inverse of erf.
double inverse_erf(double x);

}  // namespace howard::arrays
