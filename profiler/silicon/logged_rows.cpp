// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "engines/chip/kernels/ttnn_names.h"
#include "profiler/silicon/logged_call.h"

namespace howard::profiler::logged {
namespace {

namespace operation = chip::operation;

void require_last_dimension(const Call& call) {
  const std::string_view dim = call.attributes.find("dim").value_or("3");
  if (dim != "3" && dim != "-1") refuse(fmt::format("dim '{}'", dim), "the last one");
}

constexpr float kEpsilon = 1e-5F;  // it does not affect the time

/// Returns the spec of the mean and of the deviation of each row.
TensorSpec statistics(const Call& call) {
  return {call.in(0).shape.with_columns(1), call.in(0).dtype};
}

}  // namespace

/// Returns TTML's sdpa_fw.
Program ttml_attention(const Call& call) {
  const TensorSpec row = attention_statistics(call.in(0));
  return make_program(
      TtmlAttentionAttributes{.causal = call.attributes.flag("is_causal").value_or(true)},
      {call.in(0), call.in(1), call.in(2)}, {call.out(), row, row});
}

/// Returns one of the programs of TTML's sdpa_bw. A log has no columns for all operands; the others
/// follow from the first three.
Program attention_backward(const Call& call) {
  const TensorSpec& q = call.in(0);
  const TensorSpec row = attention_statistics(q);
  const std::vector<Operand> from{q, call.in(1), call.in(2), q, q, row, row};
  const bool causal = call.attributes.flag("is_causal").value_or(true);
  if (call.code == operation::kAttentionBackwardQ) {
    return make_program(AttentionBackwardQAttributes{.causal = causal}, from, {call.out()});
  }
  return make_program(AttentionBackwardKvAttributes{.causal = causal}, from,
                      {call.out(), call.out()});
}

Program rms_norm_backward(const Call& call) {
  const TensorSpec& x = call.in(0);
  return make_program(RmsNormBackwardAttributes{}, {x, call.in(1), row_numbers(call.in(0)), x},
                      {call.out(), x});
}

Program ttml_rms_norm(const Call& call) {
  return make_program(TtmlRmsNormAttributes{.epsilon = 1e-5F}, {call.in(0), call.in(1)},
                      {call.out(), row_numbers(call.in(0))});
}

Program softmax(const Call& call) {
  require_last_dimension(call);
  const auto approximate = call.attributes.member("compute_kernel_config", "math_approx_mode");
  return make_program(
      SoftmaxAttributes{.stable = call.attributes.flag("numeric_stable").value_or(true),
                        .masked = call.inputs() > 1,
                        .approximate = approximate == "1" || approximate == "true",
                        .fp32_accumulation = compute_of(call).fp32_accumulation.value_or(true)},
      {call.in(0)}, {call.out()});
}

Program softmax_backward(const Call& call) {
  require_last_dimension(call);
  return make_program(SoftmaxBackwardAttributes{}, {call.in(0), call.in(1)}, {call.out()});
}

/// ttnn's kernel takes as long with a scale as without.
Program layernorm(const Call& call) {
  const bool wide = compute_of(call).fp32_accumulation.value_or(true);
  const std::vector<Operand> results{call.out()};
  if (enumerator(call.attributes.find("norm_type").value_or("LAYERNORM")) != "RMSNORM") {
    return make_program(LayernormAttributes{.epsilon = kEpsilon, .fp32_accumulation = wide},
                        {call.in(0)}, results);
  }
  std::vector<Operand> operands{call.in(0)};
  const bool scaled =
      call.inputs() > 1 && call.in(1).shape.elements() == call.in(0).shape.columns();
  if (scaled) {
    operands.emplace_back(TensorSpec{{call.in(0).shape.columns()}, call.in(0).dtype});
  }
  return make_program(RmsNormAttributes{.epsilon = kEpsilon, .fp32_accumulation = wide},
                      std::move(operands), results);
}

Program ttml_layernorm(const Call& call) {
  const TensorSpec row = statistics(call);
  return make_program(TtmlLayernormAttributes{.epsilon = kEpsilon},
                      {call.in(0), call.in(1), call.in(2)}, {call.out(), row, row});
}

Program layernorm_backward(const Call& call) {
  const TensorSpec& x = call.in(0);
  const TensorSpec row = statistics(call);
  return make_program(LayernormBackwardAttributes{}, {x, call.in(1), row, row, x},
                      {call.out(), x, x});
}

}  // namespace howard::profiler::logged
