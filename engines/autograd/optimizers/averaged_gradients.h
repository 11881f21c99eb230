// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/autograd/functions/collective/collectives.h"
#include "engines/autograd/optimizers/optimizer.h"
#include "engines/autograd/parameter.h"

namespace howard::autograd {

/// Makes the gradients the mean over the devices of a group before another optimizer updates with
/// them, which is data-parallel training. As in TTML, this comes after the whole backward pass, and
/// each parameter takes one all_reduce for each group and one multiplication.
class AveragedGradients final : public Optimizer {
 public:
  /// The devices of `copies` have the same parameters, and those of `sharers`, if there are, divide
  /// them: gradients of what they do not divide are averaged over both. All must outlive it.
  AveragedGradients(Optimizer& optimizer, std::vector<Parameter*> parameters,
                    const DeviceGroup& copies, const DeviceGroup* sharers = nullptr);

  void step(const Calls& calls) override;
  void set_numbers(const StepNumbers& numbers) override { optimizer_.set_numbers(numbers); }
  void write_numbers(CommandQueue& queue) override { optimizer_.write_numbers(queue); }
  std::vector<KeptTensor> kept(std::size_t parameter) const override {
    return optimizer_.kept(parameter);
  }

 private:
  Optimizer& optimizer_;
  std::vector<Parameter*> parameters_;
  const DeviceGroup& copies_;
  const DeviceGroup* sharers_;
};

}  // namespace howard::autograd
