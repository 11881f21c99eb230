// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/autograd/optimizer.h"
#include "engines/autograd/parameter.h"

namespace howard::autograd {

/// p -= learning_rate g: two calls for each parameter, and one more for a row-major one, an
/// embedding table, whose gradient is in tile layout.
class Sgd final : public Optimizer {
 public:
  /// `parameters` must outlive this.
  /// `fills_rate`: as the report's Python engine, which multiplies by a tensor filled with the
  /// rate.
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
