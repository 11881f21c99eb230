// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/attention.h"

namespace howard::ops {
namespace {

std::vector<Operand> gradients(const AttentionGradients& from) {
  const auto& [operands, out, dout, statistics] = from;
  return {operands.q.operand(),
          operands.k.operand(),
          operands.v.operand(),
          out.operand(),
          dout.operand(),
          statistics.largest.operand(),
          statistics.inverse_sums.operand()};
}

/// Gives a program of TTML's the name that timelines know.
Program named(std::string_view name, Program program) {
  program.name = name;
  return program;
}

}  // namespace

Program attention(const AttentionOperands& operands, const AttentionAttributes& attributes,
                  const Tensor& out) {
  const auto& [q, k, v] = operands;
  return make_program(attributes, {q.operand(), k.operand(), v.operand()}, {out.operand()});
}

Program attention(const AttentionOperands& operands, const Tensor& mask,
                  const AttentionAttributes& attributes, const Tensor& out) {
  const auto& [q, k, v] = operands;
  return make_program(attributes, {q.operand(), k.operand(), v.operand(), mask.operand()},
                      {out.operand()});
}

Program attention(const AttentionOperands& operands, const TtmlAttentionAttributes& attributes,
                  const Tensor& out, const AttentionStatistics& statistics) {
  const auto& [q, k, v] = operands;
  return named(AttentionAttributes::kName,
               make_program(attributes, {q.operand(), k.operand(), v.operand()},
                            {out.operand(), statistics.largest.operand(),
                             statistics.inverse_sums.operand()}));
}

Program attention_backward_q(const AttentionGradients& from,
                             const TtmlAttentionAttributes& attributes, const Tensor& dq) {
  return named("attention_backward_q",
               make_program(AttentionBackwardQAttributes{.causal = attributes.causal,
                                                         .scale = attributes.scale},
                            gradients(from), {dq.operand()}));
}

Program attention_backward_kv(const AttentionGradients& from,
                              const TtmlAttentionAttributes& attributes, const Tensor& dk,
                              const Tensor& dv) {
  return named("attention_backward_kv",
               make_program(AttentionBackwardKvAttributes{.causal = attributes.causal,
                                                          .scale = attributes.scale},
                            gradients(from), {dk.operand(), dv.operand()}));
}

Program decode_attention(const AttentionOperands& operands, const Tensor& position,
                         const DecodeAttentionAttributes& attributes, const Tensor& out) {
  const auto& [q, k, v] = operands;
  return make_program(attributes, {q.operand(), k.operand(), v.operand(), position.operand()},
                      {out.operand()});
}

}  // namespace howard::ops
