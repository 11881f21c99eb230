// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/calls.h"

namespace howard::autograd {

/// Updates parameters with their gradients.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Updates each parameter that has a gradient in place, and removes the gradient.
  virtual void step(const Calls& calls) = 0;

  float learning_rate = 0;  ///< The rate of the next step; a schedule sets it.
};

}  // namespace howard::autograd
