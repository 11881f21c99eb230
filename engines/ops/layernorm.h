// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"
#include "engines/ops/tensor.h"

namespace howard::ops {

/// What the forward pass keeps for the backward one: [..., 1] of each row.
struct LayernormStatistics {
  Tensor mean;
  Tensor rstd;  ///< 1 / sqrt(variance + epsilon)
};

/// A row each, as wide as x.
struct LayernormScale {
  Tensor gamma;
  Tensor beta;
};

// Each: the program; Error when the specs do not fit.

/// out = (x - mean) rstd, along the columns.
Program layernorm(const Tensor& x, float epsilon, const Tensor& out);
/// out = (x - mean) rstd gamma + beta, and the statistics.
Program layernorm(const Tensor& x, const LayernormScale& scale, float epsilon, const Tensor& out,
                  const LayernormStatistics& statistics);

/// What is summed over the rows to the gradients of gamma and beta; both of x's spec.
struct LayernormComponents {
  Tensor gamma;
  Tensor beta;
};

/// dx and the components, of dy.
Program layernorm_backward(const Tensor& x, const Tensor& gamma,
                           const LayernormStatistics& statistics, const Tensor& dy,
                           const Tensor& dx, const LayernormComponents& components);

}  // namespace howard::ops
