// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/transpose.h"

#include "engines/ops/check.h"

namespace howard::ops {

Program transpose(const Tensor& a, const Tensor& out) {
  require_output("transpose", out, {a.spec().shape.transposed(), a.spec().dtype});
  return {.name = "transpose",
          .attributes = TransposeAttributes{},
          .inputs = {a.operand()},
          .output = out.operand()};
}

}  // namespace howard::ops
