// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
#include "engines/models/layers.h"
#include "engines/models/model_options.h"

namespace howard::models {

/// The gated feed-forward part of a block of a deepseek, or one of its experts: w2 (silu(w1 x) w3
/// x), without biases.
struct FeedForward {
  autograd::Parameter w1, w2, w3;

  /// Makes one with so many columns between; its names begin with `name`.
  FeedForward(const ParameterMaker& make, const std::string& name, std::int64_t width,
              std::int64_t wide);

  std::vector<autograd::Parameter*> all() { return {&w1, &w2, &w3}; }
  autograd::Value run(autograd::Tape& tape, autograd::Value x, const ModelOptions& options);
};

}  // namespace howard::models
