// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/autograd/optimizers/optimizer.h"
#include "engines/autograd/parameter.h"

namespace howard::autograd {

/// Says which calls update one parameter.
enum class SgdForm : std::uint8_t {
  composite,  ///< Elementwise calls, as the report's engines and TTML's until 2025 make them.
  fused,      ///< TTML's one program of 2026.
};

/// Computes p -= learning_rate g with two calls for each parameter, and two or three more for
/// weight decay, momentum and nesterov each; or with one program. A row-major parameter, an
/// embedding table, takes one more, because its gradient is in tile layout.
class Sgd final : public Optimizer {
 public:
  /// `parameters` must outlive this object. If `fills_rate`, it multiplies by a tensor that is
  /// filled with the rate, as the report's Python engine does.
  Sgd(std::vector<Parameter*> parameters, float learning_rate, bool fills_rate = false);

  /// Has all of SgdAttributes; with momentum there is a buffer for each parameter.
  Sgd(const Calls& calls, std::vector<Parameter*> parameters, const SgdAttributes& attributes,
      SgdForm form = SgdForm::composite);

  /// The first step has no dampening.
  void set_numbers(const StepNumbers& numbers) override;
  /// Returns the buffer of a parameter; there is none without momentum.
  std::vector<KeptTensor> kept(std::size_t parameter) const override;

  /// A gradient with a larger shape than its parameter, as the report's GPT-2 makes them, gives the
  /// parameter that shape, and then a buffer of its own.
  void step(const Calls& calls) override;

 private:
  void update(const Calls& calls, std::size_t index) const;
  void update_at_once(const Calls& calls, std::size_t index) const;
  float dampening() const { return next_step_ == 1 ? 0 : attributes_.dampening; }
  /// Applies weight decay and momentum.
  ops::Tensor direction(const Calls& calls, ops::Tensor gradient, const ops::Tensor& value,
                        std::size_t index) const;

  std::vector<Parameter*> parameters_;
  bool fills_rate_ = false;
  SgdAttributes attributes_;  ///< The learning rate is that of the base.
  SgdForm form_ = SgdForm::composite;
  std::int64_t next_step_ = 1;
  std::vector<ops::Tensor> buffers_;
};

}  // namespace howard::autograd
