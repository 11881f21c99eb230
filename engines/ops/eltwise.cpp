// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/eltwise.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engines/ops/check.h"

namespace howard::ops {
namespace {

void require_arity(Eltwise function, int values) {
  if (arity_of(function) == values) return;
  throw Error({.attempted = fmt::format("compute {} elementwise", name_of(function)),
               .value = fmt::format("of {} values", values),
               .accepted = fmt::format("{}", arity_of(function)),
               .hint = ""});
}

Program make(Eltwise function, std::optional<float> scalar, std::vector<Operand> inputs,
             const Tensor& out) {
  return {.name = name_of(function),
          .attributes = EltwiseAttributes{.function = function, .scalar = scalar},
          .inputs = std::move(inputs),
          .output = out.operand()};
}

}  // namespace

TensorSpec eltwise_output(Eltwise function, const TensorSpec& a, const TensorSpec& b) {
  require_arity(function, 2);
  const auto shape = Shape::broadcast(a.shape, b.shape);
  if (!shape || a.dtype != b.dtype) {
    throw Error({.attempted = fmt::format("compute {} elementwise", name_of(function)),
                 .value = fmt::format("{} and {}", text(a), text(b)),
                 .accepted = "one data type, and dimensions that are equal or 1",
                 .hint = ""});
  }
  return {*shape, a.dtype};
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

Program fill(float value, const Tensor& out) { return make(Eltwise::fill, value, {}, out); }

}  // namespace howard::ops
