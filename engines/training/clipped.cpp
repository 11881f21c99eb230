// SPDX-License-Identifier: Apache-2.0
#include "engines/training/clipped.h"

#include <utility>

#include "engines/autograd/optimizers/gradient_norm.h"
#include "engines/training/optimizers.h"

namespace howard::training {

Clipped::Clipped(autograd::Optimizer& optimizer, std::vector<autograd::Parameter*> parameters,
                 float most, bool reads_norm)
    : optimizer_(optimizer),
      parameters_(trained_of(std::move(parameters))),
      most_(most),
      reads_norm_(reads_norm) {}

void Clipped::step(const autograd::Calls& calls) {
  if (reads_norm_) {
    autograd::clip_gradient_norm(calls, parameters_, most_);
  } else {
    autograd::clip_gradients_on_device(calls, parameters_, most_);
  }
  optimizer_.step(calls);
}

}  // namespace howard::training
