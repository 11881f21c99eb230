// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engines/autograd/recorder.h"
#include "engines/wormhole/wormhole_device.h"
#include "experiments/workloads/chip_mesh.h"

namespace howard::experiments {

/// A gradient of a step, as a data-parallel training sums it over chips: one sum for each
/// parameter.
struct Gradient {
  Bytes size;
  /// Share of the step's kernel time after which it is there.
  double ready = 0;
};

/// What a step has to say about its gradients.
struct GradientWork {
  std::vector<Gradient> gradients;  ///< In the order in which they are made.
  double backward_end = 0;          ///< Share of the step's kernel time.

  Bytes size() const;
};

/// The gradients of a recorded step: what its backward phase writes and its optimizer reads.
GradientWork gradients_of(wormhole::WormholeDevice& chip, const autograd::Recorder& step);

/// The time of one sum over these chips: in each mesh over its links; of two meshes, which share no
/// link, also through the host.
SimTime sum_time(const wormhole::Profiles& profiles, const ChipSet& chips, Bytes size);

/// How much longer a step of `step` takes when its gradients are summed over `chips`: all sums
/// after the backward pass, or each as soon as its gradient is there, one at a time, while the rest
/// of the backward pass goes on undisturbed.
SimTime exchange_time(const wormhole::Profiles& profiles, const ChipSet& chips,
                      const GradientWork& work, SimTime step, bool overlapped);

}  // namespace howard::experiments
