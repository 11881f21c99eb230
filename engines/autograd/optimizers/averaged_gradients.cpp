// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/optimizers/averaged_gradients.h"

#include <utility>

namespace howard::autograd {

AveragedGradients::AveragedGradients(Optimizer& optimizer, std::vector<Parameter*> parameters,
                                     const DeviceGroup& copies, const DeviceGroup* sharers)
    : optimizer_(optimizer),
      parameters_(std::move(parameters)),
      copies_(copies),
      sharers_(sharers) {}

void AveragedGradients::step(const Calls& calls) {
  for (Parameter* parameter : parameters_) {
    if (!parameter->gradient) continue;
    const bool over_sharers = sharers_ != nullptr && parameter->sharers == nullptr;
    const int devices = copies_.devices() * (over_sharers ? sharers_->devices() : 1);
    if (devices == 1) continue;
    ops::Tensor sum = all_reduce(calls, *parameter->gradient, copies_);
    if (over_sharers) sum = all_reduce(calls, sum, *sharers_);
    parameter->gradient = calls.multiply(sum, 1 / static_cast<float>(devices));
  }
  optimizer_.step(calls);
}

}  // namespace howard::autograd
