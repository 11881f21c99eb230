// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/matmul.h"

#include <fmt/format.h>

#include "base/error.h"

namespace howard::ops {
namespace {

std::string text(const TensorSpec& spec) {
  return fmt::format("{} {}", spec.shape.text(), name_of(spec.dtype));
}

}  // namespace

TensorSpec matmul_output(const TensorSpec& a, const TensorSpec& b) {
  if (a.shape.columns() != b.shape.rows() || a.dtype != b.dtype || b.shape.batch() != 1) {
    throw Error({.attempted = "multiply matrices",
                 .value = fmt::format("{} by {}", text(a), text(b)),
                 .accepted = "[batch, m, k] by [k, n] of one data type",
                 .hint = ""});
  }
  return {.shape = a.shape.with_columns(b.shape.columns()), .dtype = a.dtype};
}

Program matmul(const Tensor& a, const Tensor& b, const Tensor& out,
               const MatmulAttributes& attributes) {
  const TensorSpec expected = matmul_output(a.spec(), b.spec());
  if (out.spec() != expected) {
    throw Error({.attempted = "store a matrix product",
                 .value = text(out.spec()),
                 .accepted = text(expected),
                 .hint = ""});
  }
  return {.name = "matmul",
          .attributes = attributes,
          .inputs = {a.operand(), b.operand()},
          .output = out.operand(),
          .flops = Flops(2 * expected.shape.elements() * a.spec().shape.columns())};
}

}  // namespace howard::ops
