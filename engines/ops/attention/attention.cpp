// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/attention/attention.h"

#include <fmt/format.h>

#include "base/error.h"
#include "engines/ops/check.h"

namespace howard::ops {
namespace {

void require_chunk(std::int64_t rows) {
  constexpr std::int64_t kMost = 1 << 20;
  if (rows >= kTileSide && rows <= kMost && rows % kTileSide == 0) return;
  throw Error({.attempted = "compute attention",
               .value = fmt::format("chunks of {} rows", rows),
               .accepted = "multiples of 32, up to 1048576"});
}

/// Throws Error when q, k and v do not fit together.
void require_operands(const char* op, const AttentionOperands& operands, bool causal) {
  const auto& [q, k, v] = operands;
  const Shape& query = q.spec().shape;
  const Shape& key = k.spec().shape;
  const bool fits = is_real(q.spec()) && q.spec().dtype == k.spec().dtype && k.spec() == v.spec() &&
                    query.outer() == key.outer() && query.heads() % key.heads() == 0 &&
                    query.columns() == key.columns();
  if (!fits) {
    refuse(op, {q.spec(), k.spec(), v.spec()},
           "q [b, h, s, d], k and v [b, g, t, d] of one data type, h a multiple of g");
  }
  if (causal && query.rows() != key.rows()) {
    refuse(op, {q.spec(), k.spec()}, "as many places of q as of k where it is causal");
  }
}

/// Returns the program of `products` products of each place of q with each of k, without outputs.
Program backward_program(const char* name, const AttentionGradients& from,
                         const AttentionAttributes& attributes, std::int64_t products) {
  const auto& [operands, out, dout, statistics] = from;
  require_operands(name, operands, attributes.causal);
  const TensorSpec& q = operands.q.spec();
  require_output(name, out, q);
  require_output(name, dout, q);
  require_output(name, statistics.largest, attention_statistics(q));
  require_output(name, statistics.inverse_sums, attention_statistics(q));
  const std::int64_t places = q.shape.elements() * operands.k.spec().shape.rows();
  return {
      .name = name,
      .attributes = attributes,
      .inputs = {operands.q.operand(), operands.k.operand(), operands.v.operand(), out.operand(),
                 dout.operand(), statistics.largest.operand(), statistics.inverse_sums.operand()},
      .outputs = {},
      .flops = Flops(2 * products * places)};
}

}  // namespace

Program attention(const AttentionOperands& operands, const AttentionAttributes& attributes,
                  const Tensor& out) {
  const auto& [q, k, v] = operands;
  require_operands("attention", operands, attributes.causal);
  require_chunk(attributes.query_chunk);
  require_chunk(attributes.key_chunk);
  require_output("attention", out, q.spec());
  const std::int64_t products = 2 * q.spec().shape.elements() * k.spec().shape.rows();
  return {.name = "attention",
          .attributes = attributes,
          .inputs = {q.operand(), k.operand(), v.operand()},
          .outputs = {out.operand()},
          .flops = Flops(2 * products)};
}

Program attention(const AttentionOperands& operands, const Tensor& mask,
                  const AttentionAttributes& attributes, const Tensor& out) {
  Program program = attention(operands, attributes, out);
  const Shape& query = operands.q.spec().shape;
  const Shape& shape = mask.spec().shape;
  const bool fits = (shape.outer() == 1 || shape.outer() == query.outer()) && shape.heads() == 1 &&
                    shape.rows() == query.rows() &&
                    shape.columns() == operands.k.spec().shape.rows() && is_real(mask.spec());
  if (attributes.causal || !fits) {
    refuse("attention", {operands.q.spec(), operands.k.spec(), mask.spec()},
           "a mask [b or 1, 1, s, t] where it is not causal");
  }
  program.inputs.push_back(mask.operand());
  return program;
}

TensorSpec attention_statistics(const TensorSpec& q) {
  return {.shape = q.shape.with_columns(1), .dtype = q.dtype};
}

Program attention(const AttentionOperands& operands, const AttentionAttributes& attributes,
                  const Tensor& out, const AttentionStatistics& statistics) {
  Program program = attention(operands, attributes, out);
  for (const Tensor* each : {&statistics.largest, &statistics.inverse_sums}) {
    require_output("attention", *each, attention_statistics(operands.q.spec()));
    program.outputs.push_back(each->operand());
  }
  return program;
}

Program attention_backward_q(const AttentionGradients& from, const AttentionAttributes& attributes,
                             const Tensor& dq) {
  constexpr int kProducts = 3;  // the scores, the probabilities' gradients, and dq
  Program program = backward_program("attention_backward_q", from, attributes, kProducts);
  require_output(program.name, dq, from.operands.q.spec());
  program.outputs = {dq.operand()};
  return program;
}

Program attention_backward_kv(const AttentionGradients& from, const AttentionAttributes& attributes,
                              const Tensor& dk, const Tensor& dv) {
  constexpr int kProducts = 4;  // the scores, the probabilities' gradients, dk and dv
  Program program = backward_program("attention_backward_kv", from, attributes, kProducts);
  for (const Tensor* each : {&dk, &dv}) {
    require_output(program.name, *each, from.operands.k.spec());
    program.outputs.push_back(each->operand());
  }
  return program;
}

Program decode_attention(const AttentionOperands& operands, const Tensor& position,
                         const AttentionAttributes& attributes, const Tensor& out) {
  Program program = attention(operands, attributes, out);
  if (attributes.causal || operands.q.spec().shape.rows() != 1) {
    refuse("decode_attention", {operands.q.spec(), operands.k.spec()},
           "q of one row, which sees places up to a position");
  }
  require_position("decode_attention", position);
  program.name = "decode_attention";
  program.inputs.push_back(position.operand());
  return program;
}

}  // namespace howard::ops
