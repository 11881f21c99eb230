// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/rows/softmax.h"

#include "engines/ops/check.h"

namespace howard::ops {

Program softmax(const Tensor& a, const Tensor& out) {
  if (!is_real(a.spec())) refuse("softmax", {a.spec()}, "real numbers");
  require_output("softmax", out, a.spec());
  return {.name = "softmax",
          .attributes = SoftmaxAttributes{},
          .inputs = {a.operand()},
          .outputs = {out.operand()}};
}

Program softmax_backward(const Tensor& y, const Tensor& dy, const Tensor& dx) {
  if (y.spec() != dy.spec()) refuse("softmax_backward", {y.spec(), dy.spec()}, "equal operands");
  require_output("softmax_backward", dx, y.spec());
  return {.name = "softmax_backward",
          .attributes = SoftmaxBackwardAttributes{},
          .inputs = {y.operand(), dy.operand()},
          .outputs = {dx.operand()}};
}

}  // namespace howard::ops
