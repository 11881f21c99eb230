// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/rows/routing.h"

#include "engines/ops/catalogue.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

Tensor sum_of_experts(const Calls& calls, const Tensor& x) {
  return calls.reduce(Reduction::sum, Dimension::columns, x);
}

struct Softmax {
  Value x;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(x, tape.calls().call(SoftmaxBackwardAttributes{},
                                         {tape.tensor(output), tape.gradient(output)}));
  }
};

struct LogSoftmax {
  Value x, shares;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor dy = tape.gradient(output);
    const Tensor common = calls.multiply(tape.tensor(shares), sum_of_experts(calls, dy));
    tape.accumulate(x, calls.subtract(dy, common));
  }
};

struct NormalizedShares {
  Value scores, mask, shares, total;
  float scale;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor dy = tape.gradient(output);
    const Tensor common = sum_of_experts(calls, calls.multiply(dy, tape.tensor(shares)));
    const Tensor slopes =
        calls.eltwise(Eltwise::divide, calls.subtract(dy, common), tape.tensor(total));
    tape.accumulate(scores, calls.multiply(calls.multiply(slopes, tape.tensor(mask)), scale));
  }
};

struct MaskedShares {
  Value scores, mask;
  float scale;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    tape.accumulate(
        scores, calls.multiply(calls.multiply(tape.gradient(output), scale), tape.tensor(mask)));
  }
};

struct ScaledRows {
  Value x, shares, share;
  std::int64_t column;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor dy = tape.gradient(output);
    tape.accumulate(x, calls.multiply(dy, tape.tensor(share)));
    const Tensor slope = sum_of_experts(calls, calls.multiply(dy, tape.tensor(x)));
    tape.accumulate(shares, calls.call(PadAttributes{.before = {0, 0, 0, column}, .value = 0},
                                       {slope}, tape.spec(shares)));
  }
};

}  // namespace

Value softmax(Tape& tape, Value x) {
  return tape.record(tape.calls().call(SoftmaxAttributes{}, {tape.tensor(x)}), {x}, Softmax{x});
}

Value log_softmax(Tape& tape, Value x) {
  const Calls& calls = tape.calls();
  const Value shares = tape.constant(calls.call(SoftmaxAttributes{}, {tape.tensor(x)}));
  return tape.record(calls.eltwise(Eltwise::log, tape.tensor(shares)), {x}, LogSoftmax{x, shares});
}

Tensor ones_at_largest(const Calls& calls, const Tensor& x, std::int64_t count) {
  const TensorSpec& spec = x.spec();
  const Shape chosen = spec.shape.with_columns(count);
  const Tensor largest = calls.make({chosen, spec.dtype});
  // ttnn's topk has places in tiles, which scatter brings to rows; here topk does.
  const Tensor places = calls.make({chosen, DataType::uint32, Layout::row_major});
  calls.run(make_program(TopkAttributes{.k = count}, {x.operand()},
                         {largest.operand(), places.operand()}));
  const auto rows_of = [&](float value, const Shape& shape) {
    return calls.to_layout(calls.fill(value, {shape, spec.dtype}), Layout::row_major);
  };
  const Tensor zeros = rows_of(0, spec.shape);
  const Tensor rows = calls.call(ScatterAttributes{}, {zeros, places, rows_of(1, chosen)});
  return calls.to_layout(rows, Layout::tile);
}

Value normalized_shares(Tape& tape, Value scores, Value mask, float scale) {
  constexpr float kAboveZero = 1e-20F;  // TTML's, so that no sum is 0
  const Calls& calls = tape.calls();
  const Tensor chosen = calls.multiply(tape.tensor(scores), tape.tensor(mask));
  const Value total =
      tape.constant(calls.eltwise(Eltwise::add, sum_of_experts(calls, chosen), kAboveZero));
  const Value shares = tape.constant(calls.eltwise(Eltwise::divide, chosen, tape.tensor(total)));
  return tape.record(calls.multiply(tape.tensor(shares), scale), {scores},
                     NormalizedShares{scores, mask, shares, total, scale});
}

Value masked_shares(Tape& tape, Value scores, Value mask, float scale) {
  const Calls& calls = tape.calls();
  const Tensor chosen = calls.multiply(tape.tensor(scores), tape.tensor(mask));
  return tape.record(calls.multiply(chosen, scale), {scores}, MaskedShares{scores, mask, scale});
}

Value scaled_rows(Tape& tape, Value x, Value shares, std::int64_t column) {
  const Calls& calls = tape.calls();
  const TensorSpec& spec = tape.spec(shares);
  const Tensor share = calls.call(SliceAttributes{.begins = {0, 0, 0, column}},
                                  {tape.tensor(shares)}, {spec.shape.with_columns(1), spec.dtype});
  return tape.record(calls.multiply(tape.tensor(x), share), {x, shares},
                     ScaledRows{x, shares, tape.constant(share), column});
}

}  // namespace howard::autograd
