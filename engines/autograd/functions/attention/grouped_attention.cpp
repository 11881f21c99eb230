// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/attention/grouped_attention.h"

#include "base/check.h"
#include "engines/autograd/functions/attention/attention_parts.h"
#include "engines/ops/tensor.h"

// The letters stand for n: batch, s: sequence, h: heads, g: groups, d: width of a head.

namespace howard::autograd {
namespace {

using ops::Tensor;
using Transposed = Calls::Transposed;

struct SplitGroups {
  Value q, kv;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const auto joined = [&](Value heads) {
      return calls.call(ConcatHeadsAttributes{}, {tape.gradient(heads)});
    };
    tape.accumulate(q, joined(output));
    const Tensor keys = joined(output.next(1));
    tape.accumulate(kv, calls.call(ConcatAttributes{}, {keys, joined(output.next(2))}));
  }
};

/// Sums over the heads that share a group: [n, h, s, d] to [n, g, s, d].
Tensor sum_groups(const Calls& calls, const Tensor& a, const Shape& to) {
  const Shape& shape = a.spec().shape;
  if (shape == to) return a;
  const std::int64_t shared = shape.heads() / to.heads();
  const Tensor grouped = a.view({to.batch(), shared, shape.rows(), shape.columns()});
  return calls
      .call(
          ReduceAttributes{
              .reduction = Reduction::sum, .dimension = Dimension::batch, .moreh = true},
          {grouped}, {{to.batch(), 1, shape.rows(), shape.columns()}, a.spec().dtype})
      .view(to);
}

Tensor repeat_heads(const Calls& calls, const Tensor& a, int count) {
  if (count == 1) return a;
  const auto& [outer, heads, rows, columns] = a.spec().shape.dimensions();
  return calls.call(RepeatAttributes{}, {a},
                    {{outer, heads * count, rows, columns}, a.spec().dtype, a.spec().layout});
}

struct GroupedAttention {
  GroupedHeads heads;
  Value probabilities;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor p = tape.tensor(probabilities);
    const Tensor& q = tape.tensor(heads.q);
    const Shape& groups = tape.spec(heads.k).shape;
    const auto count = static_cast<int>(q.spec().shape.heads() / groups.heads());
    const Tensor dy = tape.gradient(output);
    const Tensor values = repeat_heads(calls, tape.tensor(heads.v), count);
    const Tensor dp = calls.matmul(dy, values, Transposed::b);
    const Tensor ds =
        calls.multiply(calls.call(SoftmaxBackwardAttributes{}, {p, dp}), attention_scale(q));
    const Tensor keys = repeat_heads(calls, tape.tensor(heads.k), count);
    tape.accumulate(heads.q, calls.matmul(ds, keys));
    tape.accumulate(heads.k, sum_groups(calls, calls.matmul(ds, q, Transposed::a), groups));
    const Shape& of_values = tape.spec(heads.v).shape;
    tape.accumulate(heads.v, sum_groups(calls, calls.matmul(p, dy, Transposed::a), of_values));
  }
};

}  // namespace

Value grouped_heads(Tape& tape, Value q, Value kv, int heads, int groups) {
  return tape.record(tape.calls().call_all(SplitGroupsAttributes{.heads = heads, .groups = groups},
                                           {tape.tensor(q), tape.tensor(kv)}),
                     {q, kv}, SplitGroups{q, kv});
}

Value grouped_attention(Tape& tape, const GroupedHeads& heads, std::optional<Value> mask) {
  const Calls& calls = tape.calls();
  const Tensor q = tape.tensor(heads.q);
  const std::int64_t groups = tape.spec(heads.k).shape.heads();
  HOWARD_CHECK(q.spec().shape.heads() % groups == 0, "as many heads for each group");
  const auto count = static_cast<int>(q.spec().shape.heads() / groups);
  const Tensor scaled = calls.multiply(q, attention_scale(q));
  const Tensor keys = repeat_heads(calls, tape.tensor(heads.k), count);
  const Tensor scores = calls.matmul(scaled, keys, Transposed::b);
  const Value p = tape.constant(calls.call(
      SoftmaxAttributes{}, {mask ? masked_scores(calls, tape.tensor(*mask), scores) : scores}));
  const Tensor values = repeat_heads(calls, tape.tensor(heads.v), count);
  return tape.record(calls.matmul(tape.tensor(p), values), {heads.q, heads.k, heads.v},
                     GroupedAttention{heads, p});
}

}  // namespace howard::autograd
