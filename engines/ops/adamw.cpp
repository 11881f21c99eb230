// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/adamw.h"

#include <string>

#include "base/error.h"
#include "engines/ops/check.h"

namespace howard::ops {

Program adamw(const Tensor& parameter, const Tensor& gradient, const Moments& moments,
              const AdamWAttributes& attributes) {
  const Shape& shape = parameter.spec().shape;
  for (const Tensor* tensor : {&gradient, &moments.first, &moments.second}) {
    if (tensor->spec().shape == shape && is_real(tensor->spec())) continue;
    refuse("adamw", {parameter.spec(), tensor->spec()}, "a gradient and moments of its shape");
  }
  if (attributes.step < 1) {
    throw Error({.attempted = "run adamw",
                 .value = "step " + std::to_string(attributes.step),
                 .accepted = "1 and above: steps count from 1",
                 .hint = ""});
  }
  return {.name = "adamw",
          .attributes = attributes,
          .inputs = {parameter.operand(), gradient.operand(), moments.first.operand(),
                     moments.second.operand()},
          .outputs = {parameter.operand(), moments.first.operand(), moments.second.operand()}};
}

}  // namespace howard::ops
