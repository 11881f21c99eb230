// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "profiler/silicon/logged_call.h"

namespace howard::profiler::logged {

Program softmax(const Call& call) {
  return program_of(call, SoftmaxAttributes{.masked = call.inputs() > 1});
}

/// ttnn's kernel takes as long with a scale as without.
Program layernorm(const Call& call) {
  auto op = told<RmsNormAttributes>(call);
  // Since 2026 the configuration says how sums are made.
  if (call.attributes.member("program_config", "legacy_reduction")) op.rereads = true;
  if (!is_told(op, call.attributes)) return program_of(call, LayernormAttributes{});
  std::vector<Operand> operands{call.in(0)};
  const std::int64_t columns = call.in(0).shape.columns();
  if (call.inputs() > 1 && call.in(1).shape.elements() == columns) {
    operands.emplace_back(TensorSpec{{columns}, call.in(0).dtype});
  }
  return make_program(op, std::move(operands), {call.out()});
}

Program topk(const Call& call) {
  return program_of(call, TopkAttributes{.k = std::max<std::int64_t>(1, call.out().shape.columns()),
                                         .cores = static_cast<int>(call.cores().value_or(0))});
}

Program scatter(const Call& call) {
  std::vector<Operand> operands{call.in(0)};
  operands.emplace_back(call.in(1));
  if (call.inputs() > 2) operands.emplace_back(call.in(2));
  return make_program(told<ScatterAttributes>(call), std::move(operands), {call.out()});
}

/// The number of candidates is a tensor: it is taken to be 32, which is the most, or a row if that
/// is shorter.
Program sampling(const Call& call) {
  const Shape& shape = call.in(0).shape;
  return make_program(SamplingAttributes{.k = std::min(kTileSide, shape.columns())},
                      {call.in(0), TensorSpec{shape, DataType::uint32, Layout::row_major}});
}

}  // namespace howard::profiler::logged
