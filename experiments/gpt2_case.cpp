// SPDX-License-Identifier: Apache-2.0
#include "experiments/gpt2_case.h"

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/axes.h"

namespace howard::experiments {
namespace {

constexpr std::int64_t kHead = 64;

}  // namespace

models::Gpt2Options gpt2_options(std::int64_t batch, int layers, std::int64_t dim) {
  if (dim % kHead != 0) {
    throw Error({.attempted = "make GPT-2",
                 .value = fmt::format("of width {}", dim),
                 .accepted = "a multiple of 64, the columns of a head",
                 .hint = ""});
  }
  return {.batch = batch,
          .width = dim,
          .heads = static_cast<int>(dim / kHead),
          .feed_forward = 4 * dim,
          .layers = layers};
}

std::unique_ptr<harness::Case> gpt2_case(const DevBox& box, const TrainingOptions& training,
                                         models::Gpt2Options options) {
  options.as_published = training.as_published;
  return std::make_unique<TrainingCase>(
      box, training, [&](Device& device) { return train_gpt2(device, options); });
}

harness::Axis gpt2_batch_axis(harness::Backend backend) {
  const std::vector<std::string> values{backend == harness::Backend::emulated ? "32" : "1"};
  return count_axis("batch", "sequences of 256 tokens", values, values);
}

}  // namespace howard::experiments
