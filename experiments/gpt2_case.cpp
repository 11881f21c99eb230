// SPDX-License-Identifier: Apache-2.0
#include "experiments/gpt2_case.h"

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/axes.h"
#include "experiments/half_batches.h"

namespace howard::experiments {
models::Gpt2Options gpt2_options(std::int64_t batch, int layers, std::int64_t dim) {
  if (dim % kHeadColumns != 0) {
    throw Error({.attempted = "make GPT-2",
                 .value = fmt::format("of width {}", dim),
                 .accepted = "a multiple of 64, the columns of a head",
                 .hint = ""});
  }
  return {.batch = batch,
          .width = dim,
          .heads = static_cast<int>(dim / kHeadColumns),
          .feed_forward = 4 * dim,
          .layers = layers};
}

std::unique_ptr<harness::Case> gpt2_case(const DevBox& box, const TrainingOptions& training,
                                         models::Gpt2Options options) {
  options.as_published = training.as_published;
  options.fused = training.fused;
  const auto make = [&](Device& device) { return train_gpt2(device, options, training.products); };
  if (training.queues == 1) return std::make_unique<TrainingCase>(box, training, make);
  // A sequence is many tiles: any even batch has two halves.
  if (options.batch % 2 != 0) {
    throw Error({.attempted = "halve the batch",
                 .value = fmt::format("{} sequences are no two equal halves", options.batch),
                 .accepted = "an even number",
                 .hint = ""});
  }
  options.batch /= 2;
  return half_batches(box, training, make);
}

harness::Axis gpt2_batch_axis(harness::Backend backend) {
  const std::vector<std::string> values{backend == harness::Backend::emulated ? "32" : "1"};
  return count_axis("batch", "sequences of 256 tokens", values, values);
}

}  // namespace howard::experiments
