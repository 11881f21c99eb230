// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/ops/tensor.h"

namespace howard::ops {

// These make the programs of products. Each throws Error when the tensors do not fit together.

/// Returns the spec of a @ b, in a's data type as ttnn does it; b may have another one.
inline TensorSpec matmul_output(const TensorSpec& a, const TensorSpec& b,
                                const MatmulAttributes& attributes = {}) {
  return results_of(attributes, std::array{a, b})[0];
}

/// Computes out = a @ b, in any data type of numbers that `out` has.
inline Program matmul(const Tensor& a, const Tensor& b, const Tensor& out,
                      const MatmulAttributes& attributes = {}) {
  return make_program(attributes, {a.operand(), b.operand()}, {out.operand()});
}

/// Computes out = a @ b + bias, where the bias is a row.
inline Program linear(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out,
                      const MatmulAttributes& attributes = {}) {
  Program program =
      make_program(attributes, {a.operand(), b.operand(), bias.operand()}, {out.operand()});
  program.name = "linear";
  return program;
}

inline Program minimal_matmul(const Tensor& a, const Tensor& b,
                              const MinimalMatmulAttributes& attributes, const Tensor& out) {
  return make_program(attributes, {a.operand(), b.operand()}, {out.operand()});
}
/// Also adds a row of the result's columns.
inline Program minimal_matmul(const Tensor& a, const Tensor& b, const Tensor& bias,
                              const MinimalMatmulAttributes& attributes, const Tensor& out) {
  return make_program(attributes, {a.operand(), b.operand(), bias.operand()}, {out.operand()});
}

/// The weights of a gated feed-forward part, stored as those of linear layers are: `gate` and `up`
/// are [f, d], and `down` is [d, f]. TTML calls them w1, w3 and w2.
struct SwigluWeights {
  Tensor gate, down, up;
};

/// Computes out = (silu(x gate^T) * (x up^T)) down^T.
inline Program swiglu(const Tensor& x, const SwigluWeights& weights, const Tensor& out) {
  return make_program(
      SwigluAttributes{},
      {x.operand(), weights.gate.operand(), weights.down.operand(), weights.up.operand()},
      {out.operand()});
}

}  // namespace howard::ops
