// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/autograd/optimizers/optimizer.h"
#include "engines/autograd/parameter.h"

namespace howard::autograd {

/// Extends the update p -= learning_rate g. First, g += weight_decay p; then b = momentum b + (1 -
/// dampening) g, where b is 0 before the first step; then g = b, or g + momentum b with nesterov.
struct SgdAttributes {
  float momentum = 0;
  float dampening = 0;
  float weight_decay = 0;
  bool nesterov = false;
};

/// Computes p -= learning_rate g with two calls for each parameter. A row-major parameter, an
/// embedding table, takes one more, because its gradient is in tile layout.
class Sgd final : public Optimizer {
 public:
  /// `parameters` must outlive this object. If `fills_rate`, it multiplies by a tensor that is
  /// filled with the rate, as the report's Python engine does.
  Sgd(std::vector<Parameter*> parameters, float learning_rate, bool fills_rate = false);

  /// Adds momentum and weight decay; with momentum there is a buffer for each parameter.
  Sgd(const Calls& calls, std::vector<Parameter*> parameters, float learning_rate,
      const SgdAttributes& attributes);

  /// Returns the buffers for saving and restoring, in the order of the parameters; there are none
  /// without momentum.
  const std::vector<ops::Tensor>& buffers() const { return buffers_; }

  /// A gradient with a larger shape than its parameter, as the report's GPT-2 makes them, gives the
  /// parameter that shape, and then a buffer of its own.
  void step(const Calls& calls) override;

 private:
  void update(const Calls& calls, std::size_t index) const;
  /// Applies weight decay and momentum.
  ops::Tensor direction(const Calls& calls, ops::Tensor gradient, const ops::Tensor& value,
                        std::size_t index) const;

  std::vector<Parameter*> parameters_;
  bool fills_rate_ = false;
  SgdAttributes attributes_;
  std::vector<ops::Tensor> buffers_;
};

}  // namespace howard::autograd
