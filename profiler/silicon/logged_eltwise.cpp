// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "profiler/silicon/logged_call.h"

namespace howard::profiler::logged {
namespace {

/// Returns an operand with the sides that it has where the log has those of whole tiles, as logs of
/// version 1 do: one row or column of the first operand's many is repeated. The name of a kernel of
/// 2024 says so of an operand that is as large as a tile of the first one's.
TensorSpec repeated(const Call& call, std::size_t i) {
  TensorSpec spec = call.in(i);
  if (i == 0) return spec;
  const Shape& first = call.in(0).shape;
  const auto kernel = [&](std::string_view name) {
    return call.kernels.find(name) != std::string_view::npos;
  };
  const bool both = kernel("/bcast_hw");
  const auto is_one = [](std::int64_t side, std::int64_t of_first, bool said) {
    return side == kTileSide && (said || (of_first != side && of_first != 1));
  };
  if (is_one(spec.shape.rows(), first.rows(), both || kernel("/bcast_h."))) {
    spec.shape = spec.shape.with_rows(1);
  }
  if (is_one(spec.shape.columns(), first.columns(), both || kernel("/bcast_w."))) {
    spec.shape = spec.shape.with_columns(1);
  }
  return spec;
}

/// Returns row-major shards of whole tiles as such tiles: a kernel takes the numbers of a shard as
/// they lie in its core.
TensorSpec in_tiles(TensorSpec spec) {
  const bool whole = spec.sharding && spec.storage == Storage::l1 &&
                     spec.sharding->rows % kTileSide == 0 &&
                     spec.sharding->columns % kTileSide == 0;
  if (whole) spec.layout = Layout::tile;
  return spec;
}

/// Returns an elementwise program. Its lowering mixes data types, which ops::eltwise refuses of a
/// caller. `operands` of the call's inputs are read.
Program eltwise(const Call& call, EltwiseAttributes attributes, std::size_t operands) {
  std::vector<Operand> inputs;
  Shape shape = operands > 0 ? call.in(0).shape : call.out().shape;
  for (std::size_t i = 0; i < operands; ++i) {
    const TensorSpec operand = in_tiles(repeated(call, i));
    inputs.emplace_back(operand);
    const auto both = Shape::broadcast(shape, operand.shape);
    if (!both || operand.layout != Layout::tile) {
      refuse(fmt::format("an operand {}", layout_text(call.in(i))), "tiles, of shapes that fit");
    }
    shape = *both;
  }
  const TensorSpec result = in_tiles(call.out());
  if (shape != result.shape || result.layout != Layout::tile) {
    refuse(fmt::format("a result {}", layout_text(call.out())), shape.text() + " in tiles");
  }
  return {.name = name_of(attributes.function),
          .attributes = std::move(attributes),
          .inputs = std::move(inputs),
          .outputs = {result}};
}

/// Throws Error unless the call has so many operands, and perhaps a tensor that its caller gave for
/// the result, which is listed behind them.
void require_operands(const Call& call, std::size_t operands, std::string_view value,
                      std::string_view accepted) {
  const std::size_t given = call.inputs();
  const bool has_place = given == operands + 1 && call.in(operands).shape == call.out().shape;
  if (given != operands && !has_place) refuse(std::string(value), std::string(accepted));
}

}  // namespace

Program binary(const Call& call) {
  // A broadcast of 2024 has its own name for the type.
  const auto newer = call.attributes.find("binary_op_type");
  const auto type = newer ? newer : call.attributes.find("math_op");
  const std::string_view name = type ? enumerator(*type) : "";
  const auto function = find_eltwise_by_ttnn(name, 2);
  if (!function) {
    refuse(fmt::format("binary_op_type '{}'", name), "a function that the emulator has");
  }
  EltwiseAttributes op = told(call, eltwise_of(*function));
  op.older = call.kernels.find("/bcast_") != std::string_view::npos;
  const std::size_t operands = op.scalar ? 1 : 2;
  require_operands(call, operands, "not two operands", "two, or a scalar");
  return eltwise(call, std::move(op), operands);
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
  return eltwise_of(*function, 1.0F);
}

}  // namespace

Program unary(const Call& call) {
  const std::string_view text = call.attributes.find("op_chain").value_or("");
  if (const auto op = with_number(text)) return eltwise(call, told(call, *op), 1);
  std::vector<EltwiseStep> chain = parse_ttnn_chain(text);
  if (chain.empty()) refuse("no op_chain among its attributes", "one");
  const EltwiseStep first = chain.front();
  chain.erase(chain.begin());
  const bool fills = first.function == Eltwise::fill;
  if (!fills) require_operands(call, 1, "not one operand", "one");
  EltwiseAttributes op = told<EltwiseAttributes>(call);
  op.function = first.function;
  if (fills) op.scalar = first.numbers[0];
  if (!fills) op.numbers = first.numbers;
  op.then = std::move(chain);
  return eltwise(call, std::move(op), fills ? call.inputs() : 1);
}

Program ternary(const Call& call) {
  const auto type = call.attributes.find("ternary_op_type");
  const std::string_view name = type ? enumerator(*type) : "WHERE";
  const auto function = find_eltwise_by_ttnn(name, 3);
  if (!function) refuse(fmt::format("ternary_op_type '{}'", name), "WHERE, ADDCMUL, ADDCDIV, LERP");
  EltwiseAttributes op = told(call, eltwise_of(*function));
  if (call.inputs() == 2) op.scalar = 1.0F;
  const std::size_t operands = op.scalar ? 2 : 3;
  require_operands(call, operands, "not three operands", "three, or a scalar");
  return eltwise(call, std::move(op), operands);
}

Program silu_backward(const Call& call) {
  return eltwise(call, told(call, eltwise_of(Eltwise::silu_backward)), 2);
}

Program cast(const Call& call) { return eltwise(call, told(call, eltwise_of(Eltwise::cast)), 1); }

}  // namespace howard::profiler::logged
