// SPDX-License-Identifier: Apache-2.0
#include "engines/training/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/tape.h"

namespace howard::training {

double accuracy(Device& device, models::LanguageModel& model,
                std::span<const std::uint32_t> samples) {
  const Shape& pictures = model.tokens().spec().shape;
  const auto width = static_cast<std::size_t>(pictures.columns());
  const auto batch = static_cast<std::size_t>(pictures.elements()) / width;
  const std::size_t batches = samples.size() / (width + 1) / batch;
  if (batches == 0) {
    throw Error({.attempted = "find the accuracy",
                 .value = fmt::format("{} pictures to find it with", samples.size() / (width + 1)),
                 .accepted = fmt::format("as many as a batch of {}, or more", batch),
                 .hint = "--with batch_size=N"});
  }
  CommandQueue& queue = device.command_queue(0);
  std::size_t right = 0;
  for (std::size_t first = 0; first < batches * batch; first += batch) {
    std::vector<std::uint32_t> values, labels;
    for (std::size_t i = first; i < first + batch; ++i) {
      const auto sample = samples.subspan(i * (width + 1), width + 1);
      values.insert(values.end(), sample.begin(), sample.end() - 1);
      labels.push_back(sample.back());
    }
    model.write_tokens(queue, model.tokens(), values);
    autograd::Tape tape(device, {.calls = {.products = models::kTtmlProducts},
                                 .compute = model.compute(),
                                 .records = false});
    const autograd::Value logits = model.logits(tape, model.tokens());
    const std::vector<float> found = autograd::read_values(queue, tape.tensor(logits));
    const std::size_t classes = found.size() / batch;
    for (std::size_t i = 0; i < batch; ++i) {
      const auto row = found.begin() + static_cast<std::ptrdiff_t>(i * classes);
      const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(classes)) - row;
      if (best == static_cast<std::ptrdiff_t>(labels[i])) ++right;
    }
  }
  return static_cast<double>(right) / static_cast<double>(batches * batch);
}

}  // namespace howard::training
