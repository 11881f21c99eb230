// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "profiler/silicon/logged_call.h"

namespace howard::profiler::logged {
namespace {

/// Returns an elementwise program. Its lowering mixes data types, which ops::eltwise refuses of a
/// caller. `operands` of the call's inputs are read.
Program eltwise(const Call& call, EltwiseAttributes attributes, std::size_t operands) {
  attributes.core_grid = call.attributes.core_range("sub_core_grids");
  std::vector<Operand> inputs;
  Shape shape = operands > 0 ? call.in(0).shape : call.out().shape;
  for (std::size_t i = 0; i < operands; ++i) {
    inputs.emplace_back(call.in(i));
    const auto both = Shape::broadcast(shape, call.in(i).shape);
    if (!both || call.in(i).layout != Layout::tile) {
      refuse(fmt::format("an operand {}", layout_text(call.in(i))), "tiles, of shapes that fit");
    }
    shape = *both;
  }
  if (shape != call.out().shape || call.out().layout != Layout::tile) {
    refuse(fmt::format("a result {}", layout_text(call.out())), shape.text() + " in tiles");
  }
  return {.name = name_of(attributes.function),
          .attributes = std::move(attributes),
          .inputs = std::move(inputs),
          .outputs = {call.out()}};
}

Program eltwise(const Call& call, EltwiseAttributes attributes) {
  return eltwise(call, std::move(attributes), call.inputs());
}

}  // namespace

std::vector<EltwiseStep> chain_of(std::string_view text) {
  std::vector<EltwiseStep> steps;
  for (std::size_t at = text.find("UnaryOpType::"); at != std::string_view::npos;
       at = text.find("UnaryOpType::", at + 1)) {
    const std::string_view rest = text.substr(at, text.find("UnaryOpType::", at + 1) - at);
    const std::string_view name = enumerator(rest.substr(0, rest.find_first_of(";,)}]")));
    const auto function = find_eltwise_by_ttnn(name, name == "FILL" ? 0 : 1);
    if (!function) refuse(fmt::format("op_type '{}'", name), "a function that the emulator has");
    EltwiseStep step = step_of(*function);
    const std::size_t open = rest.find("param={");
    const std::string_view numbers =
        open == std::string_view::npos ? "" : rest.substr(open + 7, rest.find('}') - open - 7);
    const std::vector<std::string> values = split(numbers, ';');
    const auto known = static_cast<std::size_t>(entry_of(*function).numbers);
    for (std::size_t i = 0; i < std::min(known, values.size()); ++i) {
      step.numbers.at(i) = static_cast<float>(parse_number(values[i]).value_or(0));
    }
    // The parameter of the functions that have a fast, less exact variant says whether it is taken.
    const bool has_variants = *function == Eltwise::exp || *function == Eltwise::erf ||
                              *function == Eltwise::gelu || *function == Eltwise::rsqrt ||
                              *function == Eltwise::sqrt;
    const bool is_fast = has_variants && !values.empty() && parse_number(values[0]) == 1;
    if (is_fast && *function == Eltwise::gelu) {
      step.function = Eltwise::gelu_approx;
    } else if (is_fast) {
      refuse(fmt::format("the approximate {}", name), "the exact one");
    }
    steps.push_back(step);
  }
  return steps;
}

std::optional<EltwiseStep> activation_of(const Call& call, const char* name) {
  const std::vector<EltwiseStep> chain = chain_of(call.attributes.find(name).value_or(""));
  if (chain.empty()) return std::nullopt;
  if (chain.size() > 1) refuse("several fused activations", "one");
  return chain.front();
}

Program binary(const Call& call) {
  // A broadcast of 2024 has its own name for the type.
  const auto told = call.attributes.find("binary_op_type");
  const auto type = told ? told : call.attributes.find("math_op");
  const std::string_view name = type ? enumerator(*type) : "";
  std::optional<float> scalar;
  if (const auto text = call.attributes.find("scalar")) {
    scalar = static_cast<float>(parse_number(*text).value_or(1));
  }
  if (call.inputs() + (scalar ? 1 : 0) != 2) refuse("not two operands", "two, or a scalar");
  const auto function = find_eltwise_by_ttnn(name, 2);
  if (!function) {
    refuse(fmt::format("binary_op_type '{}'", name), "a function that the emulator has");
  }
  // The second name is that of 2024.
  const auto chain = [&](const char* attribute, const char* old) {
    const auto text = call.attributes.find(attribute);
    return chain_of(text ? *text : call.attributes.find(old).value_or(""));
  };
  return eltwise(call, {.function = *function,
                        .scalar = scalar,
                        .then = chain("post_activations", "activations"),
                        .on_a = chain("lhs_activations", "input_tensor_a_activation"),
                        .on_b = chain("rhs_activations", "input_tensor_b_activation")});
}

namespace {

/// Returns the product, sum and so on with a number that ttnn of 2024 and 2025 made of one value:
/// "UnaryWithParam(op_type=UnaryOpType::MUL_UNARY_SFPU;param={0.125})"; absent for another op.
std::optional<EltwiseAttributes> with_number(std::string_view chain) {
  constexpr std::string_view kEnding = "_UNARY_SFPU";
  const std::string_view name = enumerator(chain.substr(0, chain.find_first_of(";,)}]")));
  if (!name.ends_with(kEnding)) return std::nullopt;
  const auto function = find_eltwise_by_ttnn(name.substr(0, name.size() - kEnding.size()), 2);
  if (!function) return std::nullopt;
  return EltwiseAttributes{.function = *function, .scalar = 1.0F};
}

}  // namespace

Program unary(const Call& call) {
  const std::string_view told = call.attributes.find("op_chain").value_or("");
  if (auto op = with_number(told)) return eltwise(call, *op);
  std::vector<EltwiseStep> chain = chain_of(told);
  if (chain.empty()) refuse("no op_chain among its attributes", "one");
  const EltwiseStep first = chain.front();
  chain.erase(chain.begin());
  const bool fills = first.function == Eltwise::fill;
  // A tensor that the caller gave for the result is listed behind the operand.
  const bool has_place = call.inputs() == 2 && call.in(1).shape == call.out().shape;
  if (!fills && call.inputs() != 1 && !has_place) refuse("not one operand", "one");
  return eltwise(call,
                 {.function = first.function,
                  .scalar = fills ? std::optional(0.0F) : std::nullopt,
                  .numbers = first.numbers,
                  .then = std::move(chain)},
                 fills ? call.inputs() : 1);
}

Program ternary(const Call& call) {
  const auto type = call.attributes.find("ternary_op_type");
  const std::string_view name = type ? enumerator(*type) : "WHERE";
  const auto function = find_eltwise_by_ttnn(name, 3);
  if (!function) refuse(fmt::format("ternary_op_type '{}'", name), "WHERE, ADDCMUL, ADDCDIV, LERP");
  std::optional<float> scalar;
  if (call.inputs() == 2) scalar = 1.0F;
  if (call.inputs() + (scalar ? 1 : 0) != 3) refuse("not three operands", "three, or a scalar");
  return eltwise(call, {.function = *function, .scalar = scalar});
}

Program silu_backward(const Call& call) {
  return eltwise(call, {.function = Eltwise::silu_backward});
}

Program cast(const Call& call) { return eltwise(call, {.function = Eltwise::cast}); }

}  // namespace howard::profiler::logged
