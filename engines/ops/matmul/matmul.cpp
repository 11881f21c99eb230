// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/matmul/matmul.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engines/ops/check.h"

namespace howard::ops {

TensorSpec matmul_output(const TensorSpec& a, const TensorSpec& b,
                         const MatmulAttributes& attributes) {
  const Shape left = attributes.transpose_a ? a.shape.transposed() : a.shape;
  const Shape right = attributes.transpose_b ? b.shape.transposed() : b.shape;
  const Shape out = left.with_columns(right.columns());
  const bool batches_fit = right.batch() == 1 || left.batch() == 1 ||
                           (left.outer() == right.outer() && left.heads() == right.heads());
  if (left.columns() != right.rows() || !batches_fit || !is_real(a) || !is_real(b)) {
    throw Error(
        {.attempted = "multiply matrices",
         .value = fmt::format("{}{} by {}{}", text(a), attributes.transpose_a ? " transposed" : "",
                              text(b), attributes.transpose_b ? " transposed" : ""),
         .accepted = "[batch, m, k] by [k, n] or [batch, k, n], real numbers"});
  }
  return {.shape = left.batch() == 1 ? right.with_rows(left.rows()) : out, .dtype = a.dtype};
}

Program matmul(const Tensor& a, const Tensor& b, const Tensor& out,
               const MatmulAttributes& attributes) {
  if (attributes.activation && arity_of(attributes.activation->function) != 1) {
    refuse("matmul", {a.spec(), b.spec()}, "an activation of one value");
  }
  TensorSpec expected = matmul_output(a.spec(), b.spec(), attributes);
  if (is_real(out.spec())) expected.dtype = out.spec().dtype;
  require_output("matmul", out, expected);
  const Shape& left = a.spec().shape;
  const std::int64_t inner = attributes.transpose_a ? left.rows() : left.columns();
  return {.name = "matmul",
          .attributes = attributes,
          .inputs = {a.operand(), b.operand()},
          .outputs = {out.operand()},
          .flops = Flops(2 * expected.shape.elements() * inner)};
}

Program linear(const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& out,
               const MatmulAttributes& attributes) {
  Program program = matmul(a, b, out, attributes);
  const Shape row{out.spec().shape.columns()};
  if (!is_real(bias.spec()) || bias.spec() != TensorSpec{row, bias.spec().dtype}) {
    refuse("linear", {a.spec(), b.spec(), bias.spec()}, "a bias of one row, as wide as the result");
  }
  program.name = "linear";
  program.inputs.push_back(bias.operand());
  return program;
}

}  // namespace howard::ops
