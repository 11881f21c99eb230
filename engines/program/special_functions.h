// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::special {

/// Returns the inverse of the error function; NaN beyond -1 and 1.
double erfinv(double x);

/// Returns the modified Bessel function of the first kind of `order`, 0 or 1.
double bessel(int order, double x);

/// Returns the derivative of that order of digamma; order 0 is digamma itself. At the poles, which
/// are 0 and the negative whole numbers, the values are PyTorch's.
double polygamma(int order, double x);

/// Returns the logarithm of the multivariate gamma function of that order.
double multigammaln(int order, double x);

}  // namespace howard::special
