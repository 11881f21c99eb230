// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/attention/model_parts.h"

#include <vector>

#include "engines/autograd/functions/attention/attention_parts.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

using ops::Tensor;
using Transposed = Calls::Transposed;

/// Turns [n, 1, s, h d] into `shape`, [n, h, s, d], by two transpositions: the inverse of joining
/// heads.
Tensor heads_of(const Calls& calls, const Tensor& joined, const Shape& shape) {
  // The transpose of the joined matrix has the heads' rows.
  const Tensor columns = calls.transpose(joined);
  return calls.transpose(calls.as_shape(columns, shape.transposed()));
}

struct SeparateSplit {
  Value qkv;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    std::vector<Tensor> joined;
    for (const std::uint32_t part : {0U, 1U, 2U}) {
      joined.push_back(calls.call(ConcatHeadsAttributes{}, {tape.gradient(output.next(part))}));
    }
    tape.accumulate(qkv, calls.call(ConcatAttributes{}, joined));
  }
};

struct SeparateAttention {
  Value q, k, v, probabilities;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor p = tape.tensor(probabilities);
    const Tensor dy = tape.gradient(output);
    const Tensor dp = calls.matmul(dy, tape.tensor(v), Transposed::b);
    const Tensor ds = calls.multiply(calls.call(SoftmaxBackwardAttributes{}, {p, dp}),
                                     attention_scale(tape.tensor(q)));
    tape.accumulate(q, calls.matmul(ds, tape.tensor(k)));
    tape.accumulate(k, calls.matmul(ds, tape.tensor(q), Transposed::a));
    tape.accumulate(v, calls.matmul(p, dy, Transposed::a));
  }
};

struct SeparateJoin {
  Value x;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(x, heads_of(tape.calls(), tape.gradient(output), tape.spec(x).shape));
  }
};

}  // namespace

Value split_heads(Tape& tape, Value qkv, int heads) {
  return tape.record(
      tape.calls().call_all(SplitHeadsAttributes{.heads = heads}, {tape.tensor(qkv)}), {qkv},
      SeparateSplit{qkv});
}

Value scaled_attention(Tape& tape, Value q, Value k, Value v, Value mask) {
  const Calls& calls = tape.calls();
  const Tensor query = tape.tensor(q);
  const Tensor scaled = calls.multiply(query, attention_scale(query));
  const Tensor scores = calls.matmul(scaled, tape.tensor(k), Transposed::b);
  const Value p = tape.constant(
      calls.call(SoftmaxAttributes{}, {masked_scores(calls, tape.tensor(mask), scores)}));
  return tape.record(calls.matmul(tape.tensor(p), tape.tensor(v)), {q, k, v},
                     SeparateAttention{q, k, v, p});
}

Value join_heads(Tape& tape, Value x) {
  return tape.record(tape.calls().call(ConcatHeadsAttributes{}, {tape.tensor(x)}), {x},
                     SeparateJoin{x});
}

}  // namespace howard::autograd
