// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/calls.h"

namespace howard::autograd {

/// Updates parameters from their gradients.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Updates each parameter that has a gradient, in its place, and takes the gradient away.
  virtual void step(const Calls& calls) = 0;

  float learning_rate = 0;  ///< Of the next step; a schedule sets it.
};

}  // namespace howard::autograd
