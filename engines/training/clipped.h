// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/autograd/optimizers/optimizer.h"
#include "engines/autograd/parameter.h"

namespace howard::training {

/// Clips the norm of all gradients before another optimizer updates with them.
class Clipped final : public autograd::Optimizer {
 public:
  /// `optimizer` must outlive it. If `reads_norm`, the host reads the norm, which no recorded step
  /// can do.
  Clipped(autograd::Optimizer& optimizer, std::vector<autograd::Parameter*> parameters, float most,
          bool reads_norm);

  /// Throws Error when the norm is not finite; nothing is updated then.
  void step(const autograd::Calls& calls) override;
  void set_numbers(const autograd::StepNumbers& numbers) override {
    optimizer_.set_numbers(numbers);
  }
  void write_numbers(CommandQueue& queue) override { optimizer_.write_numbers(queue); }
  std::vector<autograd::KeptTensor> kept(std::size_t parameter) const override {
    return optimizer_.kept(parameter);
  }

 private:
  autograd::Optimizer& optimizer_;
  std::vector<autograd::Parameter*> parameters_;
  float most_;
  bool reads_norm_;
};

}  // namespace howard::training
