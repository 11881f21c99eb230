// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/autograd/functions/rows/rms_norm.h"
#include "engines/autograd/tape.h"
#include "engines/models/rotary_angles.h"

namespace howard::models {

/// Holds the angles of the positions of a model on its device: cosines, sines and the sines of the
/// negative angles, each [sequence, width]. They have no values before write().
class RotaryTensors {
 public:
  RotaryTensors(Device& device, std::int64_t sequence, std::int64_t width, DataType dtype);

  void write(CommandQueue& queue, double theta, const RopeScaling& scaling) const;
  autograd::RotaryTables on(autograd::Tape& tape) const;

 private:
  ops::Tensor cosines_, sines_, negative_sines_;
};

}  // namespace howard::models
