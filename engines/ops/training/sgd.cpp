// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/training/sgd.h"

#include "engines/ops/check.h"

namespace howard::ops {

Program sgd(const Tensor& parameter, const Tensor& gradient, const std::optional<Tensor>& buffer,
            const SgdAttributes& attributes) {
  const TensorSpec& spec = parameter.spec();
  const auto fits = [&](const Tensor& tensor) {
    return tensor.spec().shape == spec.shape && tensor.spec().layout == spec.layout &&
           is_real(tensor.spec());
  };
  for (const Tensor& tensor : {parameter, gradient, buffer.value_or(parameter)}) {
    if (fits(tensor)) continue;
    refuse("sgd", {spec, tensor.spec()}, "a gradient and a buffer of the parameter's shape");
  }
  if (buffer.has_value() != (attributes.momentum != 0)) {
    refuse("sgd", {spec}, "a buffer with a momentum, and none without");
  }
  Program program{.name = "sgd",
                  .attributes = attributes,
                  .inputs = {parameter.operand(), gradient.operand()},
                  .outputs = {parameter.operand()}};
  if (buffer) {
    program.inputs.push_back(buffer->operand());
    program.outputs.push_back(buffer->operand());
  }
  return program;
}

}  // namespace howard::ops
