// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/matmul.h"

#include <fmt/format.h>

#include "base/error.h"

namespace howard {
namespace {

void require_bias(std::string_view op, Specs in, const Shape& product) {
  if (in.size() < 3 || in[2].shape == Shape{product.columns()}) return;
  refuse_operands(op, in, "a bias of one row, as wide as the result");
}

void require_one_value(std::string_view op, const std::optional<EltwiseStep>& activation,
                       Specs in) {
  if (!activation || arity_of(activation->function) == 1) return;
  refuse_operands(op, in, "an activation of one value");
}

}  // namespace

SpecList MatmulAttributes::results(Specs in) const {
  require_one_value(kName, activation, in);
  const Shape left = transpose_a ? in[0].shape.transposed() : in[0].shape;
  const Shape right = transpose_b ? in[1].shape.transposed() : in[1].shape;
  const bool batches_fit = right.batch() == 1 || left.batch() == 1 ||
                           (left.outer() == right.outer() && left.heads() == right.heads());
  if (left.columns() != right.rows() || !batches_fit) {
    throw Error(
        {.attempted = "multiply matrices",
         .value = fmt::format("{}{} by {}{}", layout_text(in[0]), transpose_a ? " transposed" : "",
                              layout_text(in[1]), transpose_b ? " transposed" : ""),
         .accepted = "a [batch, m, k] by b [k, n] or [batch, k, n], real numbers"});
  }
  const Shape out =
      left.batch() == 1 ? right.with_rows(left.rows()) : left.with_columns(right.columns());
  require_bias(kName, in, out);
  return {{.shape = out, .dtype = in[0].dtype}};
}

Flops MatmulAttributes::flops(Specs in, Specs out) const {
  const std::int64_t depth = transpose_a ? in[0].shape.rows() : in[0].shape.columns();
  return Flops(2 * out[0].shape.elements() * depth);
}

SpecList MinimalMatmulAttributes::results(Specs in) const {
  if (in[1].shape.batch() != 1) refuse_operands(kName, in, "a weight b [k, n] without a batch");
  const auto is_size = [](std::int64_t tiles) {
    return tiles >= kBlockSides.least && tiles <= kBlockSides.most;
  };
  if (!is_size(block_m) || !is_size(block_k) || !is_size(block_n) || !is_size(subblock_h) ||
      !is_size(subblock_w) || block_m % subblock_h != 0 || block_n % subblock_w != 0) {
    throw Error(
        {.attempted = "multiply by minimal_matmul",
         .value = fmt::format("blocks of {}x{}x{} tiles and sub-blocks of {}x{}", block_m, block_k,
                              block_n, subblock_h, subblock_w),
         .accepted = "sizes from 1 to 1048576, the blocks of m and n multiples of the sub-blocks"});
  }
  return MatmulAttributes{.activation = activation}.results(in);
}

Flops MinimalMatmulAttributes::flops(Specs in, Specs out) const {
  return MatmulAttributes{}.flops(in, out);
}

SpecList SparseMatmulAttributes::results(Specs in) const {
  const auto& a = in[0].shape.dimensions();
  const auto& b = in[1].shape.dimensions();
  const bool own = sparse_a;  // A block of A for each of B.
  if (!sparse_a && !sparse_b) {
    throw Error({.attempted = "multiply by sparse_matmul",
                 .value = "operands of which neither is sparse",
                 .accepted = "sparse_a, sparse_b or both"});
  }
  const std::int64_t sets = own ? a[0] : a[0] * a[1];
  const bool fits = a[3] == b[2] && b[0] == 1 && (!own || a[1] == b[1]) &&
                    (!own || !sparse_b || a[0] == 1) && in[2].shape.elements() == sets * b[1] &&
                    used <= sets * b[1];
  if (!fits) {
    refuse_operands(kName, in,
                    "a [p, q, m, k] or [p, e, m, k], b [1, e, k, n], and a number for each block");
  }
  return {{.shape = {sets, b[1], a[2], b[3]}, .dtype = in[0].dtype}};
}

std::int64_t SparseMatmulAttributes::multiplied(const Shape& result) const {
  return used > 0 ? used : result.batch();
}

Flops SparseMatmulAttributes::flops(Specs in, Specs out) const {
  const Shape& product = out[0].shape;
  return Flops(2 * multiplied(product) * product.rows() * product.columns() *
               in[0].shape.columns());
}

SpecList SwigluAttributes::results(Specs in) const {
  const TensorSpec& x = in[0];
  const std::int64_t width = x.shape.columns();
  const std::int64_t hidden = in[1].shape.rows();
  const auto is_matrix = [&](const TensorSpec& weight, const Shape& shape) {
    return weight.shape == shape && weight.dtype == x.dtype;
  };
  if (!is_matrix(in[1], {hidden, width}) || !is_matrix(in[2], {width, hidden}) ||
      !is_matrix(in[3], {hidden, width})) {
    refuse_operands(kName, in, "x [.., d], and weights [f, d], [d, f] and [f, d] of its data type");
  }
  return {x};
}

Flops SwigluAttributes::flops(Specs in, Specs) const {
  return Flops(3 * 2 * in[0].shape.elements() * in[1].shape.rows());
}

}  // namespace howard
