// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/adamw.h"

#include "base/check.h"
#include "engines/ops/check.h"

namespace howard::ops {

Program adamw(const Tensor& parameter, const Tensor& gradient, const Moments& moments,
              const AdamWAttributes& attributes) {
  const Shape& shape = parameter.spec().shape;
  for (const Tensor* tensor : {&gradient, &moments.first, &moments.second}) {
    if (tensor->spec().shape == shape && is_real(tensor->spec())) continue;
    refuse("adamw", {parameter.spec(), tensor->spec()}, "a gradient and moments of its shape");
  }
  HOWARD_CHECK(attributes.step >= 1, "steps count from 1");
  return {.name = "adamw",
          .attributes = attributes,
          .inputs = {parameter.operand(), gradient.operand(), moments.first.operand(),
                     moments.second.operand()},
          .outputs = {parameter.operand(), moments.first.operand(), moments.second.operand()}};
}

}  // namespace howard::ops
