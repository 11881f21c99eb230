// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engines/autograd/calls.h"

namespace howard::autograd {

/// What changes from step to step.
struct StepNumbers {
  std::int64_t step = 1;  ///< The count of the step, from 1.
  float learning_rate = 0;
  float beta1 = 0;  ///< AdamW's.
};

/// A tensor that an optimizer keeps for a parameter, and what it is: "first moment".
struct KeptTensor {
  std::string what;
  ops::Tensor tensor;
};

/// Updates parameters with their gradients.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Updates each parameter that has a gradient in place, and removes the gradient.
  virtual void step(const Calls& calls) = 0;

  /// Sets the numbers of the next step; each optimizer takes those that it has.
  virtual void set_numbers(const StepNumbers& numbers) { learning_rate = numbers.learning_rate; }
  /// Writes the numbers of the next step to where a replayed step reads them, if it reads any.
  virtual void write_numbers(CommandQueue& /*queue*/) {}
  /// Returns what is kept for a parameter, by its place among the parameters: the state that must
  /// be saved and restored.
  virtual std::vector<KeptTensor> kept(std::size_t /*parameter*/) const { return {}; }

  float learning_rate = 0;  ///< The rate of the next step; a schedule sets it.
};

}  // namespace howard::autograd
