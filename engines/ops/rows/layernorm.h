// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// Holds what the forward pass keeps for the backward pass: for each row, one value, [..., 1].
struct LayernormStatistics {
  Tensor mean;
  Tensor rstd;  ///< 1 / sqrt(variance + epsilon)
};

/// Holds one row each, as wide as x.
struct LayernormScale {
  Tensor gamma;
  Tensor beta;
};

// Each of these makes a program and throws Error when the specs do not fit.

/// Computes out = (x - mean) rstd, along the columns.
Program layernorm(const Tensor& x, float epsilon, const Tensor& out);
/// Computes out = (x - mean) rstd gamma + beta, and the statistics.
Program layernorm(const Tensor& x, const LayernormScale& scale, float epsilon, const Tensor& out,
                  const LayernormStatistics& statistics);

/// The terms whose sums over the rows are the gradients of gamma and beta; both have x's spec.
struct LayernormComponents {
  Tensor gamma;
  Tensor beta;
};

/// Computes dx and the components from dy.
Program layernorm_backward(const Tensor& x, const Tensor& gamma,
                           const LayernormStatistics& statistics, const Tensor& dy,
                           const Tensor& dx, const LayernormComponents& components);

}  // namespace howard::ops
