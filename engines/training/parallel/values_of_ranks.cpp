// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/values_of_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "engines/autograd/host_values.h"

namespace howard::training {

ops::Tensor no_loss(const autograd::Calls& calls) {
  ops::Tensor loss = calls.make({{1, 1}, DataType::float32});
  autograd::write_constant(calls.queue(), loss, 0);
  return loss;
}

void send_values(mesh::Communicator& ranks, int to, std::span<const NamedValues> tensors) {
  send_number(ranks, to, tensors.size());
  for (const NamedValues& tensor : tensors) {
    ranks.send(to, std::as_bytes(std::span(tensor.name)));
    ranks.send(to, std::as_bytes(std::span(tensor.values)));
  }
}

std::vector<NamedValues> receive_values(mesh::Communicator& ranks, int from) {
  std::vector<NamedValues> tensors(receive_number<std::size_t>(ranks, from));
  for (NamedValues& tensor : tensors) {
    const std::vector<std::byte> name = ranks.receive(from);
    tensor.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
    const std::vector<std::byte> values = ranks.receive(from);
    tensor.values.resize(values.size() / sizeof(float));
    std::memcpy(tensor.values.data(), values.data(), values.size());
  }
  return tensors;
}

StepOutcome join_steps(mesh::Communicator& ranks, const StepOutcome& own, std::int64_t number) {
  const auto joined =
      join_numbers<StepOutcome, StepOutcome>(ranks, own, [](std::span<const StepOutcome> all) {
        StepOutcome step;
        for (const StepOutcome& one : all) {
          step.loss += one.loss;
          step.time = std::max(step.time, one.time);
        }
        return step;
      });
  if (std::isfinite(joined.loss)) return joined;
  throw Error({.attempted = "train",
               .value = fmt::format("a loss that is not finite in step {}", number),
               .accepted = "finite losses and parameters",
               .hint = "a smaller learning_rate or --dtype float32, from the last checkpoint"});
}

}  // namespace howard::training
