// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/attention.h"

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
               .accepted = "multiples of 32, up to 1048576",
               .hint = ""});
}

}  // namespace

Program attention(const AttentionOperands& operands, const AttentionAttributes& attributes,
                  const Tensor& out) {
  const auto& [q, k, v] = operands;
  const Shape& query = q.spec().shape;
  const Shape& key = k.spec().shape;
  const bool fits = is_real(q.spec()) && q.spec().dtype == k.spec().dtype && k.spec() == v.spec() &&
                    query.outer() == key.outer() && query.heads() % key.heads() == 0 &&
                    query.columns() == key.columns();
  if (!fits) {
    refuse("attention", {q.spec(), k.spec(), v.spec()},
           "q [b, h, s, d], k and v [b, g, t, d] of one data type, h a multiple of g");
  }
  if (attributes.causal && query.rows() != key.rows()) {
    refuse("causal attention", {q.spec(), k.spec()}, "as many places of q as of k");
  }
  require_chunk(attributes.query_chunk);
  require_chunk(attributes.key_chunk);
  require_output("attention", out, q.spec());
  const std::int64_t products = 2 * query.batch() * query.rows() * key.rows() * query.columns();
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
