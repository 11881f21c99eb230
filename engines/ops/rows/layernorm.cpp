// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/rows/layernorm.h"

#include "engines/ops/check.h"

namespace howard::ops {
namespace {

TensorSpec statistic(const TensorSpec& x) { return {x.shape.with_columns(1), x.dtype}; }

void require_row(const Tensor& row, const TensorSpec& x) {
  if (row.spec() == TensorSpec{{x.shape.columns()}, x.dtype}) return;
  refuse("layernorm", {x, row.spec()}, "gamma and beta of one row, as wide as x");
}

}  // namespace

Program layernorm(const Tensor& x, float epsilon, const Tensor& out) {
  if (!is_real(x.spec())) refuse("layernorm", {x.spec()}, "real numbers");
  require_output("layernorm", out, x.spec());
  return {.name = "layernorm",
          .attributes = LayernormAttributes{.epsilon = epsilon},
          .inputs = {x.operand()},
          .outputs = {out.operand()}};
}

Program layernorm(const Tensor& x, const LayernormScale& scale, float epsilon, const Tensor& out,
                  const LayernormStatistics& statistics) {
  Program program = layernorm(x, epsilon, out);
  require_row(scale.gamma, x.spec());
  require_row(scale.beta, x.spec());
  require_output("layernorm", statistics.mean, statistic(x.spec()));
  require_output("layernorm", statistics.rstd, statistic(x.spec()));
  program.inputs.push_back(scale.gamma.operand());
  program.inputs.push_back(scale.beta.operand());
  program.outputs.push_back(statistics.mean.operand());
  program.outputs.push_back(statistics.rstd.operand());
  return program;
}

Program layernorm_backward(const Tensor& x, const Tensor& gamma,
                           const LayernormStatistics& statistics, const Tensor& dy,
                           const Tensor& dx, const LayernormComponents& components) {
  require_row(gamma, x.spec());
  require_output("layernorm", statistics.mean, statistic(x.spec()));
  require_output("layernorm", statistics.rstd, statistic(x.spec()));
  for (const Tensor* tensor : {&dy, &dx, &components.gamma, &components.beta}) {
    require_output("layernorm_backward", *tensor, x.spec());
  }
  return {.name = "layernorm_backward",
          .attributes = LayernormBackwardAttributes{},
          .inputs = {x.operand(), gamma.operand(), statistics.mean.operand(),
                     statistics.rstd.operand(), dy.operand()},
          .outputs = {dx.operand(), components.gamma.operand(), components.beta.operand()}};
}

}  // namespace howard::ops
