// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/elementwise.h"

#include <utility>

namespace howard::ops {

EltwiseAttributes eltwise_of(Eltwise function, std::optional<float> scalar) {
  return {.function = function,
          .scalar = scalar,
          .core_grid = {},
          .numbers = entry_of(function).defaults};
}

Program eltwise(const EltwiseAttributes& attributes, std::span<const Tensor> values,
                const Tensor& out) {
  return make_program(attributes, operands_of(values), {out.operand()});
}

}  // namespace howard::ops
