// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/autograd/optimizer.h"
#include "engines/autograd/parameter.h"

namespace howard::autograd {

/// Computes p -= learning_rate g, with two calls for each parameter. A row-major parameter, an
/// embedding table, needs one more call, because its gradient is in tile layout.
class Sgd final : public Optimizer {
 public:
  /// `parameters` must outlive this object. `fills_rate` does as the report's Python engine: it
  /// multiplies by a tensor that is filled with the rate.
  Sgd(std::vector<Parameter*> parameters, float learning_rate, bool fills_rate = false);

  /// A gradient with a larger shape than its parameter, as the report's GPT-2 makes them, gives the
  /// parameter that shape, and then a buffer of its own.
  void step(const Calls& calls) override;

 private:
  void update(const Calls& calls, Parameter& parameter) const;

  std::vector<Parameter*> parameters_;
  bool fills_rate_;
};

}  // namespace howard::autograd
