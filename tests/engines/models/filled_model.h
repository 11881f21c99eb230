// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/autograd/host_values.h"
#include "engines/models/model_options.h"
#include "tests/engines/autograd/gradient_check.h"

namespace howard::models {

/// Returns tokens for a batch of a model of these sizes.
inline std::vector<std::uint32_t> tokens_of(const ModelOptions& options) {
  std::vector<std::uint32_t> tokens(static_cast<std::size_t>(options.batch * options.sequence));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] =
        static_cast<std::uint32_t>((i * i + i) % static_cast<std::size_t>(options.vocabulary));
  }
  return tokens;
}

/// Writes them as tokens and as targets.
template <class Model>
void fill_tokens(Device& device, Model& model) {
  const std::vector<std::uint32_t> tokens = tokens_of(model.options());
  autograd::write_indices(device.command_queue(0), model.tokens(), tokens);
  autograd::write_indices(device.command_queue(0), model.targets(), tokens);
}

/// Gives all parameters random values, and the model its tokens.
template <class Model>
void fill_model(reference::ReferenceDevice& device, Model& model) {
  unsigned seed = 1;
  for (autograd::Parameter* parameter : model.parameters()) {
    reference::fill_random(device, parameter->value, seed++, 0.5);
  }
  fill_tokens(device, model);
}

}  // namespace howard::models
