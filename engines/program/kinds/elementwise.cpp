// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/elementwise.h"

#include <fmt/format.h>

#include "base/error.h"

namespace howard {

std::vector<EltwiseAttributes> EltwiseAttributes::all() {
  std::vector<EltwiseAttributes> all;
  for (const EltwiseEntry& entry : eltwise_catalogue()) {
    EltwiseAttributes& op = all.emplace_back();
    op.function = entry.function;
    op.numbers = entry.defaults;
  }
  return all;
}

std::string_view EltwiseAttributes::ttnn() const {
  if (function == Eltwise::silu_backward) return "SiLUBackwardDeviceOperation";
  const int values = arity_of(function);
  return values == 3   ? "TernaryDeviceOperation"
         : values == 2 ? "BinaryNgDeviceOperation"
                       : "UnaryDeviceOperation";
}

void EltwiseAttributes::require_values(std::size_t tensors) const {
  const auto require = [&](bool holds, std::string value, int accepted) {
    if (holds) return;
    throw Error({.attempted = fmt::format("compute {} elementwise", name()),
                 .value = std::move(value),
                 .accepted = fmt::format("{} values", accepted)});
  };
  const int fixed = scalar && arity_of(function) > 0 ? 1 : 0;
  const int given = static_cast<int>(tensors);
  const int takes = arity_of(function) - fixed;
  require(given >= takes,
          fmt::format("operand {}, {}, is missing", given + 1,
                      kInputs.at(std::min(tensors, kInputs.size() - 1)).name),
          arity_of(function));
  require(given <= takes,
          fmt::format("operand {} is one too many{}", given, fixed != 0 ? " with a scalar" : ""),
          arity_of(function));
  require(on_b.empty() || tensors > 1, "an activation of a second tensor, which there is not", 2);
  for (const auto* const steps : {&then, &on_a, &on_b}) {
    for (const EltwiseStep& step : *steps) {
      require(arity_of(step.function) == 1, fmt::format("with {}", name_of(step.function)), 1);
    }
  }
}

SpecList EltwiseAttributes::results(Specs in) const {
  require_values(in.size());
  if (in.empty()) return {};
  TensorSpec result{in[0].shape, in[0].dtype, in[0].layout};
  for (const TensorSpec& value : in.subspan(1)) {
    const auto shape = Shape::broadcast(result.shape, value.shape);
    if (!shape || result.layout != value.layout) {
      throw Error({.attempted = fmt::format("compute {} elementwise", name()),
                   .value = fmt::format("{} and {}", layout_text(result), layout_text(value)),
                   .accepted = "one layout, and dimensions that are equal or 1"});
    }
    const bool wide = value.dtype == DataType::float32;
    result = {*shape, wide ? value.dtype : result.dtype, result.layout};
  }
  return {result};
}

SpecList GeluBackwardAttributes::results(Specs in) const {
  if (in[0].shape != in[1].shape) refuse_operands(kName, in, "x and dy of one shape");
  return {in[0]};
}

SpecList SwigluBackwardAttributes::results(Specs in) const {
  for (const TensorSpec& other : in.subspan(1)) {
    if (other == in[0]) continue;
    refuse_operands(kName, in, "gate, up and dy of one shape and data type");
  }
  return {in[0], in[0]};
}

EltwiseAttributes eltwise_of(Eltwise function, std::optional<float> scalar) {
  return {.function = function,
          .scalar = scalar,
          .core_grid = {},
          .numbers = entry_of(function).defaults};
}

}  // namespace howard
