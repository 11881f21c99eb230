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
  /// Where the last run puts its loss: one number.
  virtual ops::Tensor loss() const = 0;
  /// Whether each run enqueues the same programs, buffers aside.
  virtual bool is_fixed() const = 0;
};

}  // namespace howard::autograd
