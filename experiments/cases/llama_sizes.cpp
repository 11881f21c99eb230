// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/llama_sizes.h"

#include <string>

#include "base/error.h"

namespace howard::experiments {

models::ModelOptions llama_sizes_of(std::string_view model) {
  if (model == "nanollama3")
    return {.kind = models::ModelKind::llama, .batch = 1, .vocabulary = 32000, .theta = 5e5F};
  models::ModelOptions options{.kind = models::ModelKind::llama,
                               .batch = 1,
                               .sequence = 2048,
                               .width = 2048,
                               .heads = 32,
                               .groups = 4,
                               .layers = 22,
                               .feed_forward = 5632,
                               .vocabulary = 32000,
                               .memory_efficient = true};
  if (model == "tinyllama") return options;
  options.groups = 8;
  options.theta = 5e5F;
  if (model == "llama3_2_1b") {
    options.layers = 16;
    options.feed_forward = 8192;
    options.scaling = {.factor = 32, .high = 4, .low = 1, .length = 8192};
    options.tied = true;
    return options;
  }
  if (model == "llama8b") {
    options.width = 4096;
    options.layers = 32;
    options.feed_forward = 14336;
    options.vocabulary = 128256;
    return options;
  }
  throw Error({.attempted = "make a llama",
               .value = "'" + std::string(model) + "'",
               .accepted = "nanollama3, tinyllama, llama3_2_1b, llama8b"});
}

}  // namespace howard::experiments
