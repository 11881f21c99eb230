// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/rows/sharded_loss.h"

#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"

namespace howard::autograd {
namespace {

using ops::Tensor;

struct ShardedCrossEntropy {
  Value logits, exponentials, sums, marks;

  void backward(Tape& tape, Value) const {
    const Calls& calls = tape.calls();
    const auto positions = static_cast<float>(tape.spec(sums).shape.elements());
    const Tensor likely =
        calls.eltwise(Eltwise::divide, tape.tensor(exponentials), tape.tensor(sums));
    const Tensor wrong = calls.subtract(likely, tape.tensor(marks));
    tape.accumulate(logits, calls.multiply(wrong, tape.loss_gradient() / positions));
  }
};

/// Returns one where a column is the target's, and zero elsewhere.
Tensor marks_of(const Calls& calls, const Tensor& targets, const VocabularyShare& share,
                const TensorSpec& logits) {
  const Tensor numbers = calls.as_shape(calls.call(EmbeddingAttributes{}, {targets, share.numbers}),
                                        logits.shape.with_columns(1));
  const Tensor marks = calls.eltwise(Eltwise::eq, share.tokens, numbers);
  return logits.dtype == DataType::float32 ? marks : calls.cast(marks, logits.dtype);
}

}  // namespace

VocabularyShare vocabulary_share(Device& device, std::int64_t vocabulary,
                                 const DeviceGroup& group) {
  if (vocabulary % group.devices() != 0) {
    throw Error({.attempted = "divide a vocabulary among devices",
                 .value = fmt::format("{} tokens among {}", vocabulary, group.devices()),
                 .accepted = "devices that divide it"});
  }
  const std::int64_t own = vocabulary / group.devices();
  VocabularyShare share{
      .tokens = {device, {.shape = {1, own}, .dtype = DataType::float32}},
      .numbers = {
          device,
          {.shape = {vocabulary, 1}, .dtype = DataType::float32, .layout = Layout::row_major}}};
  std::vector<float> numbers(static_cast<std::size_t>(vocabulary));
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  CommandQueue& queue = device.command_queue(0);
  write_values(queue, share.numbers, numbers);
  const auto first = static_cast<std::size_t>(own * group.place());
  write_values(queue, share.tokens,
               std::span(numbers).subspan(first, static_cast<std::size_t>(own)));
  return share;
}

Value sharded_cross_entropy(Tape& tape, Value logits, Value targets, const VocabularyShare& share,
                            const DeviceGroup& group) {
  const Calls& calls = tape.calls();
  const Tensor own = tape.tensor(logits);
  const Tensor marks = marks_of(calls, tape.tensor(targets), share, own.spec());
  const auto along_columns = [&](Reduction reduction, const Tensor& x) {
    return calls.reduce(reduction, Dimension::columns, x);
  };
  const Tensor largest =
      along_columns(Reduction::max, all_gather(calls, along_columns(Reduction::max, own), group));
  const Tensor lowered = calls.subtract(own, largest);
  const Tensor exponentials = calls.eltwise(Eltwise::exp, lowered);
  const Tensor sums = all_reduce(calls, along_columns(Reduction::sum, exponentials), group);
  const Tensor of_target =
      all_reduce(calls, along_columns(Reduction::sum, calls.multiply(marks, lowered)), group);
  const Tensor losses = calls.subtract(calls.eltwise(Eltwise::log, sums), of_target);
  const Value kept_exponentials = tape.constant(exponentials);
  const Value kept_sums = tape.constant(sums);
  const Value kept_marks = tape.constant(marks);
  return tape.record(calls.reduce(Reduction::mean, Dimension::all, losses, true), {logits},
                     ShardedCrossEntropy{logits, kept_exponentials, kept_sums, kept_marks});
}

}  // namespace howard::autograd
