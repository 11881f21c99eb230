// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/attention/latent_parts.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "engines/ops/tensor.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

struct SeparateHeads {
  Value x;

  void backward(Tape& tape, Value output) const {
    const Calls& calls = tape.calls();
    const Tensor rows = calls.transpose(tape.gradient(output), Swap::heads_rows);
    tape.accumulate(x, calls.reshape(rows, tape.spec(x).shape));
  }
};

struct RepeatedHead {
  Value x;

  void backward(Tape& tape, Value output) const {
    tape.accumulate(x, tape.calls().call(ReduceAttributes{.reduction = Reduction::sum,
                                                          .dimension = Dimension::batch,
                                                          .moreh = true},
                                         {tape.gradient(output)}, tape.spec(x)));
  }
};

}  // namespace

Value separate_heads(Tape& tape, Value x, int heads) {
  const Calls& calls = tape.calls();
  const Shape& shape = tape.spec(x).shape;
  if (heads < 1 || shape.columns() % heads != 0) {
    throw Error({.attempted = "separate heads",
                 .value = fmt::format("{} of {} columns", heads, shape.columns()),
                 .accepted = "a divisor of the columns"});
  }
  const Tensor rows =
      calls.reshape(tape.tensor(x), {shape.batch(), shape.rows(), heads, shape.columns() / heads});
  return tape.record(calls.transpose(rows, Swap::heads_rows), {x}, SeparateHeads{x});
}

Value repeated_head(Tape& tape, Value x, int heads) {
  const TensorSpec& spec = tape.spec(x);
  const Shape& one = spec.shape;
  const Tensor all =
      tape.calls().make({{one.batch(), heads, one.rows(), one.columns()}, spec.dtype});
  constexpr int kHeads = 1;
  const std::vector<Tensor> parts(static_cast<std::size_t>(heads), tape.tensor(x));
  tape.calls().run(
      make_program(ConcatAttributes{.dimension = kHeads}, ops::operands_of(parts), {all}));
  return tape.record(all, {x}, RepeatedHead{x});
}

}  // namespace howard::autograd
