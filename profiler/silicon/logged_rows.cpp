// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "engines/chip/kernels/ttnn_names.h"
#include "engines/ops/attention.h"
#include "engines/ops/rows.h"
#include "profiler/silicon/logged_call.h"

namespace howard::profiler::logged {
namespace {

namespace operation = chip::operation;
using ops::Tensor;

void require_last_dimension(const Call& call) {
  const std::string_view dim = call.attributes.find("dim").value_or("3");
  if (dim != "3" && dim != "-1") refuse(fmt::format("dim '{}'", dim), "the last one");
}

constexpr float kEpsilon = 1e-5F;  // it does not affect the time

ops::LayernormStatistics statistics(const Call& call) {
  const TensorSpec row{call.in(0).shape.with_columns(1), call.in(0).dtype};
  return {call.make(row), call.make(row)};
}

}  // namespace

/// Returns TTML's sdpa_fw.
Program ttml_attention(const Call& call) {
  const TensorSpec row = attention_statistics(call.in(0));
  return ops::attention({call.input(0), call.input(1), call.input(2)},
                        {.causal = call.attributes.flag("is_causal").value_or(true)}, call.output(),
                        {call.make(row), call.make(row)});
}

/// Returns one of the programs of TTML's sdpa_bw. A log has no columns for all operands; the others
/// follow from the first three.
Program attention_backward(const Call& call) {
  const Tensor q = call.input(0);
  const TensorSpec row = attention_statistics(q.spec());
  const ops::AttentionGradients from{.operands = {q, call.input(1), call.input(2)},
                                     .out = q,
                                     .dout = q,
                                     .statistics = {call.make(row), call.make(row)}};
  const TtmlAttentionAttributes attributes{.causal =
                                               call.attributes.flag("is_causal").value_or(true)};
  if (call.code == operation::kAttentionBackwardQ) {
    return ops::attention_backward_q(from, attributes, call.output());
  }
  return ops::attention_backward_kv(from, attributes, call.output(), call.output());
}

Program rms_norm_backward(const Call& call) {
  const Tensor x = call.input(0);
  return ops::rms_norm_backward(x, call.input(1), call.make(row_numbers(call.in(0))), x,
                                call.output(), x);
}

Program ttml_rms_norm(const Call& call) {
  return ops::rms_norm(call.input(0), call.input(1), 1e-5F, call.output(),
                       call.make(row_numbers(call.in(0))));
}

Program softmax(const Call& call) {
  require_last_dimension(call);
  const auto approximate = call.attributes.member("compute_kernel_config", "math_approx_mode");
  return make_program(
      SoftmaxAttributes{.stable = call.attributes.flag("numeric_stable").value_or(true),
                        .masked = call.inputs() > 1,
                        .approximate = approximate == "1" || approximate == "true",
                        .fp32_accumulation = compute_of(call).fp32_accumulation.value_or(true)},
      {call.input(0).operand()}, {call.output().operand()});
}

Program softmax_backward(const Call& call) {
  require_last_dimension(call);
  return ops::softmax_backward(call.input(0), call.input(1), call.output());
}

/// ttnn's kernel takes as long with a scale as without.
Program layernorm(const Call& call) {
  const bool wide = compute_of(call).fp32_accumulation.value_or(true);
  const std::vector<Operand> results{call.output().operand()};
  if (enumerator(call.attributes.find("norm_type").value_or("LAYERNORM")) != "RMSNORM") {
    return make_program(LayernormAttributes{.epsilon = kEpsilon, .fp32_accumulation = wide},
                        {call.input(0).operand()}, results);
  }
  std::vector<Operand> operands{call.input(0).operand()};
  const bool scaled =
      call.inputs() > 1 && call.in(1).shape.elements() == call.in(0).shape.columns();
  if (scaled) {
    operands.push_back(call.make({{call.in(0).shape.columns()}, call.in(0).dtype}).operand());
  }
  return make_program(RmsNormAttributes{.epsilon = kEpsilon, .fp32_accumulation = wide},
                      std::move(operands), results);
}

Program ttml_layernorm(const Call& call) {
  return ops::layernorm(call.input(0), {call.input(1), call.input(2)}, kEpsilon, call.output(),
                        statistics(call));
}

Program layernorm_backward(const Call& call) {
  const Tensor x = call.input(0);
  return ops::layernorm_backward(x, call.input(1), statistics(call), x, call.output(), {x, x});
}

}  // namespace howard::profiler::logged
