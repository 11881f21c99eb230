// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/autograd/steps/static_step.h"
#include "engines/chip/emulated_chip.h"
#include "experiments/training_plan/run_plan.h"

namespace howard::experiments {

/// A fabric socket receives into a ring buffer of this size in the chip's DRAM, as TTML sets it up.
inline constexpr Bytes kFabricRing{80'000'000};

/// Returns the profiles of a chip of the setting, which its host drives in a mesh. Its DRAM has no
/// end, so that a run's need is known even where it does not fit.
chip::Profiles planned_profiles(const RunSetting& setting, chip::Profiles profiles);

/// Returns a part of a time, or a multiple of it, to the nearest picosecond.
SimTime scaled(SimTime time, double factor);

/// Writes whole numbers without a meaning, tokens or targets, into a tensor.
void write_data(CommandQueue& queue, const ops::Tensor& to);
/// Reads the loss of so many chips, one after the other, when all have computed it.
void read_losses(CommandQueue& queue, const ops::Tensor& loss, int chips);

/// Returns the most DRAM that was in use.
Bytes peak_of(const chip::EmulatedChip& chip);

/// Is recorded once and may be captured whatever its numbers are: a replay repeats those of AdamW.
class RepeatedStep final : public autograd::Step {
 public:
  RepeatedStep(chip::EmulatedChip& chip, const autograd::StepFunction& step)
      : step_(chip, step, autograd::Scalars::change_each_step) {}

  void run() override { step_.run(); }
  ops::Tensor loss() const override { return step_.loss(); }
  bool is_fixed() const override { return true; }

 private:
  autograd::StaticStep step_;
};

/// Captures a step and returns the time of a replay from an idle chip to an idle chip.
SimTime replay_time(chip::EmulatedChip& chip, const autograd::StepFunction& step);

/// Returns how much of the sums of gradients, which begin with program `update` of a recorded step,
/// is hidden if each starts as soon as its gradient exists, one at a time, while the passes go on
/// undisturbed. The passes take `elapsed`.
SimTime hidden_sums(chip::EmulatedChip& chip, const autograd::StepRecorder& step,
                    std::size_t update, SimTime elapsed);

}  // namespace howard::experiments
