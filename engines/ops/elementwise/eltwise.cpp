// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/elementwise/eltwise.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engines/ops/check.h"

namespace howard::ops {
namespace {

void require_arity(Eltwise function, int values) {
  if (arity_of(function) == values) return;
  throw Error({.attempted = fmt::format("compute {} elementwise", name_of(function)),
               .value = fmt::format("of {} values", values),
               .accepted = fmt::format("{}", arity_of(function))});
}

/// Returns whether two data types may be mixed: bfloat16 and float32 may, as in ttnn's binary_ng.
bool dtypes_mix(DataType a, DataType b) {
  const auto plain = [](DataType dtype) {
    return dtype == DataType::bfloat16 || dtype == DataType::float32;
  };
  return (a == b && a != DataType::uint32) || (plain(a) && plain(b));
}

Program make(Eltwise function, std::optional<float> scalar, std::vector<Operand> inputs,
             const Tensor& out) {
  return {.name = name_of(function),
          .attributes = EltwiseAttributes{.function = function,
                                          .scalar = scalar,
                                          .core_grid = {},
                                          .numbers = entry_of(function).defaults},
          .inputs = std::move(inputs),
          .outputs = {out.operand()}};
}

TensorSpec broadcast_of(Eltwise function, const TensorSpec& a, const TensorSpec& b) {
  const auto shape = Shape::broadcast(a.shape, b.shape);
  if (!shape || !dtypes_mix(a.dtype, b.dtype) || a.layout != b.layout) {
    throw Error({.attempted = fmt::format("compute {} elementwise", name_of(function)),
                 .value = fmt::format("{} and {}", text(a), text(b)),
                 .accepted = "one layout, one data type or bfloat16 with float32, and dimensions "
                             "that are equal or 1"});
  }
  const bool wide = b.dtype == DataType::float32;
  return {*shape, wide ? b.dtype : a.dtype, a.layout};
}

}  // namespace

TensorSpec eltwise_output(Eltwise function, const TensorSpec& a, const TensorSpec& b) {
  require_arity(function, 2);
  return broadcast_of(function, a, b);
}

Program eltwise(Eltwise function, const Tensor& a, const Tensor& b, const Tensor& out) {
  require_output(name_of(function), out, eltwise_output(function, a.spec(), b.spec()));
  return make(function, std::nullopt, {a.operand(), b.operand()}, out);
}

Program eltwise(Eltwise function, const Tensor& a, float scalar, const Tensor& out) {
  require_arity(function, 2);
  require_output(name_of(function), out, a.spec());
  return make(function, scalar, {a.operand()}, out);
}

Program eltwise(Eltwise function, const Tensor& a, const Tensor& out) {
  require_arity(function, 1);
  require_output(name_of(function), out, a.spec());
  return make(function, std::nullopt, {a.operand()}, out);
}

TensorSpec eltwise_output(const EltwiseAttributes& attributes, std::span<const TensorSpec> values) {
  require_arity(attributes.function, static_cast<int>(values.size()) + (attributes.scalar ? 1 : 0));
  for (const auto* const steps : {&attributes.then, &attributes.on_a, &attributes.on_b}) {
    for (const EltwiseStep& step : *steps) require_arity(step.function, 1);
  }
  if (!attributes.on_b.empty() && values.size() < 2) {
    throw Error({.attempted = fmt::format("compute {} elementwise", name_of(attributes.function)),
                 .value = "an activation of a second tensor, which there is not",
                 .accepted = "two tensors"});
  }
  if (values.empty()) {
    throw Error({.attempted = fmt::format("compute {} elementwise", name_of(attributes.function)),
                 .value = "of no tensor",
                 .accepted = "one tensor or more"});
  }
  TensorSpec result = values[0];
  if (!is_real(result)) refuse(name_of(attributes.function), {result}, "real numbers");
  for (const TensorSpec& value : values.subspan(1)) {
    result = broadcast_of(attributes.function, result, value);
  }
  return result;
}

Program eltwise(const EltwiseAttributes& attributes, std::span<const Tensor> values,
                const Tensor& out) {
  std::vector<TensorSpec> specs;
  std::vector<Operand> inputs;
  for (const Tensor& value : values) {
    specs.push_back(value.spec());
    inputs.push_back(value.operand());
  }
  require_output(name_of(attributes.function), out, eltwise_output(attributes, specs));
  return {.name = name_of(attributes.function),
          .attributes = attributes,
          .inputs = std::move(inputs),
          .outputs = {out.operand()}};
}

Program cast(const Tensor& a, const Tensor& out) {
  const TensorSpec expected{a.spec().shape, out.spec().dtype, a.spec().layout};
  if (!is_real(a.spec()) || !is_real(out.spec())) refuse("cast", {a.spec()}, "real numbers");
  require_output("cast", out, expected);
  return make(Eltwise::cast, std::nullopt, {a.operand()}, out);
}

Program gelu_backward(const Tensor& x, const Tensor& dy, bool fused, const Tensor& dx) {
  if (x.spec() != dy.spec()) refuse("gelu_backward", {x.spec(), dy.spec()}, "equal operands");
  require_output("gelu_backward", dx, x.spec());
  return {.name = "gelu_backward",
          .attributes = GeluBackwardAttributes{.fused = fused},
          .inputs = {x.operand(), dy.operand()},
          .outputs = {dx.operand()}};
}

Program fill(float value, const Tensor& out) { return make(Eltwise::fill, value, {}, out); }

}  // namespace howard::ops
