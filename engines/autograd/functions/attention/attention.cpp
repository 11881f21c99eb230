// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/attention/attention.h"

#include <array>
#include <cmath>

#include "engines/autograd/functions/attention/attention_parts.h"
#include "engines/ops/tensor.h"

// The letters stand for n: batch, s: sequence, h: heads, d: width of a head.

namespace howard::autograd {
namespace {

using ops::Tensor;
using Transposed = Calls::Transposed;

/// Splits [n, s, h d] to [n, h, s, d].
Tensor split(const Calls& calls, const Tensor& x, int heads) {
  const Shape& shape = x.spec().shape;
  const Shape parts{shape.batch(), shape.rows(), heads, shape.columns() / heads};
  return calls.transpose(calls.reshape(x, parts), Swap::heads_rows);
}

/// Merges [n, h, s, d] to `shape`, [n, s, h d].
Tensor merge(const Calls& calls, const Tensor& x, const Shape& shape) {
  return calls.reshape(calls.transpose(x, Swap::heads_rows), shape);
}

/// Returns the gradient of the scores from that of the probabilities: p (dp - sum of p dp).
Tensor composed_softmax_backward(const Calls& calls, const Tensor& p, const Tensor& dp) {
  const Tensor sum = calls.reduce(Reduction::sum, Dimension::columns, calls.multiply(p, dp));
  return calls.multiply(p, calls.subtract(dp, sum));
}

struct ComposedAttention {
  Value q;                     ///< q; k and v are the next two values
  std::array<Value, 3> heads;  ///< q, k and v as [n, h, s, d]
  Value probabilities;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor p = tape.tensor(probabilities);
    const Tensor& k = tape.tensor(heads[1]);
    const auto count = static_cast<int>(k.spec().shape.heads());
    const Tensor dy = split(calls, tape.gradient(output), count);
    const Tensor dp = calls.matmul(dy, tape.tensor(heads[2]), Transposed::b);
    const Tensor dv = calls.matmul(p, dy, Transposed::a);
    const Tensor ds = calls.multiply(composed_softmax_backward(calls, p, dp), attention_scale(k));
    const Tensor dq = calls.matmul(ds, k);
    const Tensor dk = calls.matmul(ds, tape.tensor(heads[0]), Transposed::a);
    const Shape& shape = tape.spec(q).shape;
    tape.accumulate(q, merge(calls, dq, shape));
    tape.accumulate(q.next(1), merge(calls, dk, shape));
    tape.accumulate(q.next(2), merge(calls, dv, shape));
  }
};

struct FusedAttention {
  Value q, k, v, largest, inverse_sums;
  std::optional<Value> mask;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    std::vector<Operand> from{tape.tensor(q),           tape.tensor(k),        tape.tensor(v),
                              tape.tensor(output),      tape.gradient(output), tape.tensor(largest),
                              tape.tensor(inverse_sums)};
    if (mask) from.push_back(tape.tensor(*mask));
    const bool causal = !mask;
    const float scale = attention_scale(tape.tensor(q));
    const Tensor dk = calls.make(tape.spec(k));
    const Tensor dv = calls.make(tape.spec(v));
    calls.run(make_program(AttentionBackwardKvAttributes{.causal = causal, .scale = scale}, from,
                           {dk, dv}));
    const Tensor dq = calls.make(tape.spec(q));
    calls.run(
        make_program(AttentionBackwardQAttributes{.causal = causal, .scale = scale}, from, {dq}));
    tape.accumulate(q, dq);
    tape.accumulate(k, dk);
    tape.accumulate(v, dv);
  }
};

}  // namespace

float attention_scale(const Tensor& heads) {
  return 1 / std::sqrt(static_cast<float>(heads.spec().shape.columns()));
}

Tensor masked_scores(const Calls& calls, const Tensor& mask, const Tensor& scores) {
  const Tensor seen = calls.multiply(mask, scores);
  const Tensor hidden = calls.multiply(calls.eltwise(Eltwise::subtract, mask, 1.0F), 1e9F);
  return calls.add(seen, hidden);
}

Value composed_attention(Tape& tape, Value q, Value mask, int heads,
                         std::optional<Value> probabilities) {
  const Calls& calls = tape.calls();
  const Shape shape = tape.spec(q).shape;
  std::array<Value, 3> parts;
  for (std::uint32_t i = 0; i < 3; ++i) {
    parts[i] = tape.constant(split(calls, tape.tensor(q.next(i)), heads));
  }
  const Tensor query = tape.tensor(parts[0]);
  const Tensor products = calls.matmul(query, tape.tensor(parts[1]), Transposed::b);
  const Tensor scores =
      calls.add(calls.multiply(products, attention_scale(query)), tape.tensor(mask));
  const Tensor largest = calls.reduce(Reduction::max, Dimension::columns, scores);
  const Tensor lowered = calls.subtract(scores, largest);
  if (!probabilities) probabilities = tape.constant(calls.make(lowered.spec()));
  calls.run(make_program(SoftmaxAttributes{}, {lowered}, {tape.tensor(*probabilities)}));
  const Tensor mixed = calls.matmul(tape.tensor(*probabilities), tape.tensor(parts[2]));
  return tape.record(merge(calls, mixed, shape), {q, q.next(1), q.next(2)},
                     ComposedAttention{q, parts, *probabilities});
}

Value fused_attention(Tape& tape, Value q, Value k, Value v, std::optional<Value> mask) {
  const Calls& calls = tape.calls();
  const Tensor query = tape.tensor(q), keys = tape.tensor(k), values = tape.tensor(v);
  const TtmlAttentionAttributes op{.causal = !mask, .scale = attention_scale(query)};
  const std::vector<Tensor> made =
      mask ? calls.call_all(op, {query, keys, values, tape.tensor(*mask)})
           : calls.call_all(op, {query, keys, values});
  const Value largest = tape.constant(made[1]);
  const Value inverse_sums = tape.constant(made[2]);
  return tape.record(made[0], {q, k, v}, FusedAttention{q, k, v, largest, inverse_sums, mask});
}

}  // namespace howard::autograd
