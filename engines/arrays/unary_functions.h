// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace howard::arrays {

/// A function of one number. `p` holds its parameters, as many as `parameters` says.
struct UnaryFunction {
  std::string_view name;
  double (*value)(double x, const double* p);
  int parameters = 0;
};

/// Returns all functions by name, in no order.
std::span<const UnaryFunction> unary_functions();

/// Returns a derivative of the logarithm of the gamma function; order 0 is digamma.
double polygamma(int order, double x);
/// Computes the modified Bessel functions of the first kind, of order 0 and 1.
double bessel_i0(double x);
double bessel_i1(double x);
/// Computes the inverse of erf.
double inverse_erf(double x);

}  // namespace howard::arrays
