// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/ops/tensor.h"

namespace howard::autograd {

/// A training step that is made once and run many times.
class Step {
 public:
  virtual ~Step() = default;

  /// Enqueues the step.
  virtual void run() = 0;
  /// Returns the tensor in which the last run puts its loss: one number.
  virtual ops::Tensor loss() const = 0;
  /// Returns whether each run enqueues the same programs, apart from their buffers.
  virtual bool is_fixed() const = 0;
};

}  // namespace howard::autograd
