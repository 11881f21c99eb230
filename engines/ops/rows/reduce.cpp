// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/rows/reduce.h"

#include "engines/ops/check.h"

namespace howard::ops {

TensorSpec reduce_output(Dimension dimension, const TensorSpec& a) {
  const Shape& shape = a.shape;
  switch (dimension) {
    case Dimension::columns:
      return {shape.with_columns(1), a.dtype};
    case Dimension::rows:
      return {shape.transposed().with_columns(1).transposed(), a.dtype};
    case Dimension::batch:
      return {{shape.rows(), shape.columns()}, a.dtype};
    case Dimension::all:
      break;
  }
  return {{1}, a.dtype};
}

Program reduce(Reduction reduction, Dimension dimension, const Tensor& a, const Tensor& out,
               bool moreh) {
  if (!is_real(a.spec())) refuse(name_of(reduction), {a.spec()}, "real numbers");
  require_output(name_of(reduction), out, reduce_output(dimension, a.spec()));
  return {.name = name_of(reduction),
          .attributes =
              ReduceAttributes{.reduction = reduction, .dimension = dimension, .moreh = moreh},
          .inputs = {a.operand()},
          .outputs = {out.operand()}};
}

Program sum_heads(const Tensor& a, const Tensor& out) {
  const Shape& shape = a.spec().shape;
  if (!is_real(a.spec())) refuse("sum", {a.spec()}, "real numbers");
  require_output("sum", out, {{shape.outer(), 1, shape.rows(), shape.columns()}, a.spec().dtype});
  return {.name = name_of(Reduction::sum),
          .attributes =
              ReduceAttributes{
                  .reduction = Reduction::sum, .dimension = Dimension::batch, .moreh = true},
          .inputs = {a.operand()},
          .outputs = {out.operand()}};
}

}  // namespace howard::ops
