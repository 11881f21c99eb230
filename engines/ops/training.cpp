// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/training.h"

#include <utility>
#include <vector>

namespace howard::ops {
namespace {

/// Makes a program that writes in place all that it keeps; the gradient is its second operand.
Program update(const Attributes& attributes, std::vector<Operand> kept, const Tensor& gradient) {
  std::vector<Operand> inputs = kept;
  inputs.insert(inputs.begin() + 1, gradient.operand());
  return make_program(attributes, std::move(inputs), std::move(kept));
}

}  // namespace

Program adamw(const Tensor& parameter, const Tensor& gradient, const Moments& moments,
              const AdamWAttributes& attributes) {
  std::vector<Operand> kept{parameter.operand(), moments.first.operand(), moments.second.operand()};
  if (moments.largest) kept.push_back(moments.largest->operand());
  if (moments.compensation) kept.push_back(moments.compensation->operand());
  return update(attributes, std::move(kept), gradient);
}

Program sgd(const Tensor& parameter, const Tensor& gradient, const std::optional<Tensor>& buffer,
            const SgdAttributes& attributes) {
  std::vector<Operand> kept{parameter.operand()};
  if (buffer) kept.push_back(buffer->operand());
  return update(attributes, std::move(kept), gradient);
}

}  // namespace howard::ops
