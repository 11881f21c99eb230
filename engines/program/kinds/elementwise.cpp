// SPDX-License-Identifier: Apache-2.0
#include "engines/program/kinds/elementwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

namespace {

/// Says whether it gives a real number even of whole ones.
bool is_quotient(Eltwise function) {
  return function == Eltwise::divide || function == Eltwise::rdiv;
}

}  // namespace

bool EltwiseAttributes::is_whole(Specs in) const {
  const auto whole = [](float number) { return number == std::trunc(number); };
  const auto whole_steps = [&](const std::vector<EltwiseStep>& steps) {
    return std::ranges::all_of(steps, [&](const EltwiseStep& step) {
      return entry_of(step.function).takes_whole && std::ranges::all_of(step.numbers, whole);
    });
  };
  return !in.empty() && std::ranges::all_of(in, &TensorSpec::is_whole) &&
         entry_of(function).takes_whole && !is_quotient(function) && whole(scalar.value_or(0)) &&
         std::ranges::all_of(numbers, whole) && whole_steps(then) && whole_steps(on_a) &&
         whole_steps(on_b);
}

DataType EltwiseAttributes::type_of(Specs in) const {
  // `where` only asks of its first value whether it is 0.
  const Specs values = function == Eltwise::where && in.size() > 1 ? in.subspan(1) : in;
  DataType type = values[0].dtype;
  for (const TensorSpec& value : values) {
    const bool wins = value.dtype == DataType::float32 || howard::is_whole(type);
    if (wins && value.is_real()) type = value.dtype;
  }
  return is_quotient(function) && howard::is_whole(type) ? DataType::float32 : type;
}

SpecList EltwiseAttributes::results(Specs in) const {
  require_values(in.size());
  if (in.empty()) return {};
  for (std::size_t i = 0; i < in.size() && !entry_of(function).takes_whole; ++i) {
    if (in[i].is_real()) continue;
    throw Error({.attempted = fmt::format("compute {} elementwise", name()),
                 .value = fmt::format("operand {}, {}, is {}", i + 1, kInputs.at(i).name,
                                      layout_text(in[i])),
                 .accepted = fmt::format("{}: {}", kInputs.at(i).name, text_of(Takes::reals))});
  }
  TensorSpec result{in[0].shape, type_of(in), in[0].layout};
  for (const TensorSpec& value : in.subspan(1)) {
    const auto shape = Shape::broadcast(result.shape, value.shape);
    if (!shape || result.layout != value.layout) {
      throw Error({.attempted = fmt::format("compute {} elementwise", name()),
                   .value = fmt::format("{} and {}", layout_text(result), layout_text(value)),
                   .accepted = "one layout, and dimensions that are equal or 1"});
    }
    result.shape = *shape;
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
