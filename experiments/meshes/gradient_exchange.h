// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engines/autograd/steps/step_recorder.h"
#include "engines/chip/emulated_chip.h"
#include "experiments/meshes/chip_mesh.h"

namespace howard::experiments {

/// Describes a gradient of a step, as a data-parallel training sums it over chips: one sum for each
/// parameter.
struct Gradient {
  Bytes size;
  /// The share of the step's kernel time after which it exists.
  double ready = 0;
};

/// Holds what a step says about its gradients.
struct GradientWork {
  std::vector<Gradient> gradients;  ///< They are in the order in which they are made.
  double backward_end = 0;          ///< A share of the step's kernel time.

  Bytes size() const;
};

/// Returns the gradients of a recorded step: what its backward phase writes and its optimizer
/// reads.
GradientWork gradients_of(chip::EmulatedChip& chip, const autograd::StepRecorder& step);

/// Returns the time of one sum over these chips. In each mesh it runs over the links; for two
/// meshes, which share no link, it also goes through the host.
SimTime sum_time(const chip::Profiles& profiles, const ChipSet& chips, Bytes size);

/// Returns how much longer a step of `step` takes when its gradients are summed over `chips`.
/// Either all sums follow the backward pass, or each starts as soon as its gradient exists, one at
/// a time, while the rest of the backward pass goes on undisturbed.
SimTime exchange_time(const chip::Profiles& profiles, const ChipSet& chips,
                      const GradientWork& work, SimTime step, bool overlapped);

}  // namespace howard::experiments
