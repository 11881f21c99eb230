// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engines/autograd/optimizer.h"
#include "engines/autograd/parameter.h"

namespace howard::autograd {

/// The calls that update one parameter.
enum class AdamWForm : std::uint8_t {
  composite,  ///< TTML's own: seventeen elementwise ones.
  /// The composite with the numbers that change from step to step in tensors of one number each,
  /// instead of scalars of the calls: a captured step can be replayed, as it reads there what
  /// write_numbers() has written. The same results, to the bit. Not TTML's, which captures no
  /// training step; on a chip it takes this form, as a trace repeats its programs' runtime
  /// arguments, and MorehAdamW has the step among them.
  replayable,
  fused,  ///< ttnn's MorehAdamW, one.
};

/// AdamW in TTML's order of operations (AdamWAttributes).
class AdamW final : public Optimizer {
 public:
  /// Allocates the moments and sets them to zero. `attributes`: its count of steps is that of the
  /// first step. `parameters` must outlive this. Error for the replayable form when a parameter is
  /// not float32. `kahan`, of the composite form: what a sum of parameter and update has rounded
  /// away is kept and goes into the next one, TTML's use_kahan_summation.
  AdamW(const Calls& calls, std::vector<Parameter*> parameters, const AdamWAttributes& attributes,
        AdamWForm form = AdamWForm::composite, bool kahan = false);

  void step(const Calls& calls) override;
  /// Of the replayable form: writes the numbers of the next step, which must come before each, and
  /// counts it. Others count in step(), and need no such call: a bug.
  void write_numbers(CommandQueue& queue);

  /// For saving and restoring: in the order of the parameters.
  const std::vector<ops::Moments>& moments() const { return moments_; }
  /// What sums have rounded away; none without `kahan`.
  const std::vector<ops::Tensor>& compensations() const { return compensations_; }
  std::int64_t next_step() const { return attributes_.step; }
  void set_next_step(std::int64_t step) { attributes_.step = step; }

 private:
  /// What changes from step to step, as the calls multiply by it.
  struct Numbers {
    float decay;         ///< weight decay times learning rate
    float first_factor;  ///< 1 / (1 - beta1^step)
    float second_factor;
    float direction;  ///< Minus the learning rate.
  };
  struct NumberTensors {
    ops::Tensor decay, first_factor, second_factor, direction;
  };

  Numbers numbers() const;
  template <class AllNumbers>
  void update_by_parts(const Calls& calls, const Parameter& parameter, std::size_t index,
                       const AllNumbers& numbers) const;

  std::vector<Parameter*> parameters_;
  std::vector<ops::Moments> moments_;
  std::vector<ops::Tensor> compensations_;
  AdamWAttributes attributes_;
  AdamWForm form_;
  std::optional<NumberTensors> tensors_;  ///< Of the replayable form.
};

}  // namespace howard::autograd
