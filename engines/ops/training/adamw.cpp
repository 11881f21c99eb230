// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/training/adamw.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "engines/ops/check.h"

namespace howard::ops {

Program adamw(const Tensor& parameter, const Tensor& gradient, const Moments& moments,
              const AdamWAttributes& attributes) {
  const Shape& shape = parameter.spec().shape;
  std::vector<Tensor> kept{parameter, moments.first, moments.second};
  if (moments.largest) kept.push_back(*moments.largest);
  if (moments.compensation) kept.push_back(*moments.compensation);
  for (const Tensor& tensor : kept) {
    if (tensor.spec().shape == shape && is_real(tensor.spec())) continue;
    refuse("adamw", {parameter.spec(), tensor.spec()}, "a gradient and moments of its shape");
  }
  if (gradient.spec().shape != shape || !is_real(gradient.spec())) {
    refuse("adamw", {parameter.spec(), gradient.spec()}, "a gradient and moments of its shape");
  }
  if (moments.largest.has_value() != attributes.amsgrad ||
      moments.compensation.has_value() != attributes.kahan) {
    refuse("adamw", {parameter.spec()}, "one more moment for each of amsgrad and kahan");
  }
  if (attributes.rounding_seed && parameter.spec().dtype != DataType::bfloat16) {
    refuse("adamw", {parameter.spec()}, "a bfloat16 parameter to round by chance");
  }
  if (attributes.step < 1) {
    throw Error({.attempted = "run adamw",
                 .value = "step " + std::to_string(attributes.step),
                 .accepted = "1 and above: steps count from 1"});
  }
  Program program{.name = "adamw", .attributes = attributes, .inputs = {}, .outputs = {}};
  for (const Tensor& tensor : kept) {
    program.inputs.push_back(tensor.operand());
    program.outputs.push_back(tensor.operand());
  }
  program.inputs.insert(program.inputs.begin() + 1, gradient.operand());
  return program;
}

}  // namespace howard::ops
