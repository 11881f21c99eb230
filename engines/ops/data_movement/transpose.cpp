// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/data_movement/transpose.h"

#include "engines/ops/check.h"

namespace howard::ops {

TensorSpec transpose_output(const TensorSpec& a, Swap swap) {
  return {swap == Swap::rows_columns ? a.shape.transposed() : a.shape.heads_swapped(), a.dtype};
}

Program transpose(const Tensor& a, const Tensor& out, Swap swap) {
  require_output("transpose", out, transpose_output(a.spec(), swap));
  return {.name = "transpose",
          .attributes = TransposeAttributes{.swap = swap},
          .inputs = {a.operand()},
          .outputs = {out.operand()}};
}

}  // namespace howard::ops
