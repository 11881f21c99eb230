// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/optimizers/averaged_gradients.h"

#include <utility>

namespace howard::autograd {

AveragedGradients::AveragedGradients(Optimizer& optimizer, std::vector<Parameter*> parameters,
                                     const DeviceGroup& group)
    : optimizer_(optimizer), parameters_(std::move(parameters)), group_(group) {}

void AveragedGradients::step(const Calls& calls) {
  const float share = 1 / static_cast<float>(group_.devices());
  for (Parameter* parameter : parameters_) {
    if (group_.devices() == 1 || !parameter->gradient) continue;
    parameter->gradient = calls.multiply(all_reduce(calls, *parameter->gradient, group_), share);
  }
  optimizer_.step(calls);
}

}  // namespace howard::autograd
