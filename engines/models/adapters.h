// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/autograd/parameter.h"
#include "engines/autograd/tape.h"
#include "engines/models/model_options.h"

namespace howard::models {

/// Reports a pattern that no layer of a model has in its name.
class NoSuchLayer : public Error {
 public:
  using Error::Error;
};

/// The low-rank adapters of a model's weights. TTML's names are beside them: "q_linear/weight" has
/// "q_linear/lora_A" and "q_linear/lora_B".
class Adapters {
 public:
  /// Makes those of all weights whose layers the options choose, and freezes all parameters. Throws
  /// NoSuchLayer if a pattern is found in no layer, and Error with a group that divides layers.
  /// Without a rank it does nothing.
  Adapters(Device& device, const ModelOptions& options,
           std::span<autograd::Parameter* const> parameters);

  /// Returns A and B of each weight that has them, in the order of the weights.
  std::vector<autograd::Parameter*> all();

  /// Returns x weight^T, with what the adapters of the weight add.
  autograd::Value product(autograd::Tape& tape, autograd::Value x, autograd::Parameter& weight);

 private:
  struct Pair {
    std::string weight;
    autograd::Parameter a, b;
  };
  Pair* find(const autograd::Parameter& weight);

  float scale_ = 0;
  std::vector<Pair> pairs_;
};

}  // namespace howard::models
