// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engines/autograd/optimizers/optimizer.h"
#include "engines/autograd/parameter.h"
#include "engines/ops/training.h"

namespace howard::autograd {

/// Says which calls update one parameter.
enum class AdamWForm : std::uint8_t {
  composite,  ///< TTML's own form: seventeen elementwise calls, and one more with amsgrad.
  /// This is the composite, but the numbers that change from step to step lie in tensors of one
  /// number each instead of being scalars of the calls. A captured step can then be replayed,
  /// because it reads what write_numbers() has written. The results are the same, to the bit. TTML
  /// has no such form, as it captures no training step. A captured step on a chip needs it too: a
  /// trace repeats its programs' runtime arguments, and those of MorehAdamW include the step.
  replayable,
  fused,  ///< One call: ttnn's MorehAdamW, or with the options of AdamWAttributes TTML's own.
};

/// Updates parameters by AdamW, with TTML's order of operations (AdamWAttributes).
class AdamW final : public Optimizer {
 public:
  /// Allocates the moments and sets them to zero. `attributes.step` is the count of the first step,
  /// and `attributes.rounding_seed` seeds all steps. `parameters` must outlive this object. Throws
  /// Error for the replayable form when a parameter is not float32 or with `kahan`, and for a
  /// rounding_seed with another form than the fused one or a parameter that is not bfloat16.
  AdamW(const Calls& calls, std::vector<Parameter*> parameters, const AdamWAttributes& attributes,
        AdamWForm form = AdamWForm::composite);

  void step(const Calls& calls) override;
  /// As in TTML, the power of beta1 in the correction of the first moment is that of the new value.
  /// The replayable form cannot follow a new beta1: a trace repeats it.
  void set_numbers(const StepNumbers& numbers) override;
  /// Writes the numbers of the next step of the replayable form and counts the step. It must be
  /// called before each step of this form. The other forms count in step().
  void write_numbers(CommandQueue& queue) override;
  std::vector<KeptTensor> kept(std::size_t parameter) const override;

 private:
  /// The factors that change from step to step.
  struct Numbers {
    float decay;         ///< weight decay times learning rate
    float first_factor;  ///< 1 / (1 - beta1^step)
    float second_factor;
    float direction;  ///< minus the learning rate
  };
  struct NumberTensors {
    ops::Tensor decay, first_factor, second_factor, direction;
  };

  void require_options() const;
  Numbers numbers() const;
  AdamWAttributes attributes_for(std::size_t index) const;
  template <class AllNumbers>
  void update_by_parts(const Calls& calls, const Parameter& parameter, std::size_t index,
                       const AllNumbers& numbers) const;

  std::vector<Parameter*> parameters_;
  std::vector<ops::Moments> moments_;
  AdamWAttributes attributes_;
  AdamWForm form_;
  std::optional<NumberTensors> tensors_;  ///< Only for the replayable form.
};

}  // namespace howard::autograd
