// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/rows.h"

namespace howard::ops {

Program layernorm(const Tensor& x, const LayernormScale& scale, float epsilon, const Tensor& out,
                  const LayernormStatistics& statistics) {
  Program program =
      make_program(TtmlLayernormAttributes{.epsilon = epsilon},
                   {x.operand(), scale.gamma.operand(), scale.beta.operand()},
                   {out.operand(), statistics.mean.operand(), statistics.rstd.operand()});
  program.name = LayernormAttributes::kName;
  return program;
}

Program layernorm_backward(const Tensor& x, const Tensor& gamma,
                           const LayernormStatistics& statistics, const Tensor& dy,
                           const Tensor& dx, const LayernormComponents& components) {
  return make_program(LayernormBackwardAttributes{},
                      {x.operand(), gamma.operand(), statistics.mean.operand(),
                       statistics.rstd.operand(), dy.operand()},
                      {dx.operand(), components.gamma.operand(), components.beta.operand()});
}

Program rms_norm(const Tensor& x, const Tensor& gamma, float epsilon, const Tensor& out,
                 const Tensor& rms) {
  Program program = make_program(TtmlRmsNormAttributes{.epsilon = epsilon},
                                 {x.operand(), gamma.operand()}, {out.operand(), rms.operand()});
  program.name = RmsNormAttributes::kName;
  return program;
}

Program rms_norm_backward(const Tensor& x, const Tensor& gamma, const Tensor& rms, const Tensor& dy,
                          const Tensor& dx, const Tensor& dgamma_component) {
  return make_program(RmsNormBackwardAttributes{},
                      {x.operand(), gamma.operand(), rms.operand(), dy.operand()},
                      {dx.operand(), dgamma_component.operand()});
}

}  // namespace howard::ops
