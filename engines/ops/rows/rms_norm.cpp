// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/rows/rms_norm.h"

#include "engines/ops/check.h"

namespace howard::ops {
namespace {

void require_gamma(const Tensor& gamma, const TensorSpec& x) {
  if (gamma.spec() == TensorSpec{{x.shape.columns()}, x.dtype}) return;
  refuse("rms_norm", {x, gamma.spec()}, "gamma of one row, as wide as x");
}

}  // namespace

TensorSpec rms_output(const TensorSpec& x) { return {x.shape.with_columns(1), x.dtype}; }

Program rms_norm(const Tensor& x, float epsilon, const Tensor& out) {
  if (!is_real(x.spec())) refuse("rms_norm", {x.spec()}, "real numbers");
  require_output("rms_norm", out, x.spec());
  return {.name = "rms_norm",
          .attributes = RmsNormAttributes{.epsilon = epsilon},
          .inputs = {x.operand()},
          .outputs = {out.operand()}};
}

Program rms_norm(const Tensor& x, const Tensor& gamma, float epsilon, const Tensor& out) {
  Program program = rms_norm(x, epsilon, out);
  require_gamma(gamma, x.spec());
  program.inputs.push_back(gamma.operand());
  return program;
}

Program rms_norm(const Tensor& x, const Tensor& gamma, float epsilon, const Tensor& out,
                 const Tensor& rms) {
  Program program = rms_norm(x, gamma, epsilon, out);
  require_output("rms_norm", rms, rms_output(x.spec()));
  program.outputs.push_back(rms.operand());
  return program;
}

Program rms_norm_backward(const Tensor& x, const Tensor& gamma, const Tensor& rms, const Tensor& dy,
                          const Tensor& dx, const Tensor& dgamma_component) {
  require_gamma(gamma, x.spec());
  require_output("rms_norm", rms, rms_output(x.spec()));
  for (const Tensor* tensor : {&dy, &dx, &dgamma_component}) {
    require_output("rms_norm_backward", *tensor, x.spec());
  }
  return {.name = "rms_norm_backward",
          .attributes = RmsNormBackwardAttributes{},
          .inputs = {x.operand(), gamma.operand(), rms.operand(), dy.operand()},
          .outputs = {dx.operand(), dgamma_component.operand()}};
}

}  // namespace howard::ops
