// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/ops/tensor.h"

namespace howard::ops {

// These make programs that work along the rows of a tensor. Each throws Error when the tensors do
// not fit together.

/// Returns the spec of `a` with `dimension` reduced to one.
inline TensorSpec reduce_output(Dimension dimension, const TensorSpec& a) {
  return results_of(ReduceAttributes{.dimension = dimension}, std::array{a})[0];
}
/// Reduces a along `dimension`, with ttnn's own kernels or with the moreh ones.
inline Program reduce(Reduction reduction, Dimension dimension, const Tensor& a, const Tensor& out,
                      bool moreh = false) {
  return make_program(
      ReduceAttributes{.reduction = reduction, .dimension = dimension, .moreh = moreh},
      {a.operand()}, {out.operand()});
}
/// Sums a [n, heads, s, d] over its heads to out [n, 1, s, d]: moreh_sum along the second
/// dimension.
inline Program sum_heads(const Tensor& a, const Tensor& out) {
  return reduce(Reduction::sum, Dimension::batch, a, out, true);
}
inline Program softmax(const Tensor& a, const Tensor& out) {
  return make_program(SoftmaxAttributes{}, {a.operand()}, {out.operand()});
}
/// Computes dx = y (dy - sum of y dy along the columns).
inline Program softmax_backward(const Tensor& y, const Tensor& dy, const Tensor& dx) {
  return make_program(SoftmaxBackwardAttributes{}, {y.operand(), dy.operand()}, {dx.operand()});
}

/// What the forward pass keeps for the backward pass: a number for each row, [..., 1].
struct LayernormStatistics {
  Tensor mean;
  Tensor rstd;  ///< 1 / sqrt(variance + epsilon)
};
/// One row each, as wide as x.
struct LayernormScale {
  Tensor gamma;
  Tensor beta;
};
/// The terms whose sums over the rows are the gradients of gamma and beta; both have x's spec.
struct LayernormComponents {
  Tensor gamma;
  Tensor beta;
};

/// Computes out = (x - mean) rstd, along the columns.
inline Program layernorm(const Tensor& x, float epsilon, const Tensor& out) {
  return make_program(LayernormAttributes{.epsilon = epsilon}, {x.operand()}, {out.operand()});
}
/// Computes out = (x - mean) rstd gamma + beta, and the statistics, by TTML's kernel.
Program layernorm(const Tensor& x, const LayernormScale& scale, float epsilon, const Tensor& out,
                  const LayernormStatistics& statistics);
/// Computes dx and the components from dy.
Program layernorm_backward(const Tensor& x, const Tensor& gamma,
                           const LayernormStatistics& statistics, const Tensor& dy,
                           const Tensor& dx, const LayernormComponents& components);

/// Computes out = x / sqrt(mean of x^2 + epsilon) along the columns, and times gamma, one row.
inline Program rms_norm(const Tensor& x, float epsilon, const Tensor& out) {
  return make_program(RmsNormAttributes{.epsilon = epsilon}, {x.operand()}, {out.operand()});
}
inline Program rms_norm(const Tensor& x, const Tensor& gamma, float epsilon, const Tensor& out) {
  return make_program(RmsNormAttributes{.epsilon = epsilon}, {x.operand(), gamma.operand()},
                      {out.operand()});
}
/// Computes the same and rms [..., 1], the root of each row, by TTML's kernel.
Program rms_norm(const Tensor& x, const Tensor& gamma, float epsilon, const Tensor& out,
                 const Tensor& rms);
/// Computes dx from dy, and the terms (of x's spec) whose sum over the rows is the gradient of
/// gamma.
Program rms_norm_backward(const Tensor& x, const Tensor& gamma, const Tensor& rms, const Tensor& dy,
                          const Tensor& dx, const Tensor& dgamma_component);

/// Returns the spec of the losses, [n, s, 1], for logits [n, s, v] and targets [n, s].
inline TensorSpec cross_entropy_output(const TensorSpec& logits, const TensorSpec& targets) {
  return results_of(CrossEntropyAttributes{}, std::array{logits, targets})[0];
}
/// Computes out = log(sum of exp(logits)) - logit of the target, at each position. On a device that
/// holds values, running it throws Error for a target outside the vocabulary.
inline Program cross_entropy(const Tensor& logits, const Tensor& targets, const Tensor& out) {
  return make_program(CrossEntropyAttributes{}, {logits.operand(), targets.operand()},
                      {out.operand()});
}
/// Takes minus the logarithm of the target's probability, at each position.
inline Program nll_loss(const Tensor& logarithms, const Tensor& targets, const Tensor& out) {
  return make_program(CrossEntropyAttributes{.of_logarithms = true},
                      {logarithms.operand(), targets.operand()}, {out.operand()});
}
/// Computes dlogits = scale (softmax(logits) - one at the target).
inline Program cross_entropy_backward(const Tensor& logits, const Tensor& targets, float scale,
                                      const Tensor& dlogits) {
  return make_program(CrossEntropyBackwardAttributes{.scale = scale},
                      {logits.operand(), targets.operand()}, {dlogits.operand()});
}
/// Writes -scale at the target and 0 elsewhere. `logarithms` gives the shape alone.
inline Program nll_loss_backward(const Tensor& logarithms, const Tensor& targets, float scale,
                                 const Tensor& dlogarithms) {
  return make_program(CrossEntropyBackwardAttributes{.scale = scale, .of_logarithms = true},
                      {logarithms.operand(), targets.operand()}, {dlogarithms.operand()});
}

}  // namespace howard::ops
