// SPDX-License-Identifier: Apache-2.0
#include "engines/models/rotary_tensors.h"

#include "engines/autograd/host_values.h"

namespace howard::models {

RotaryTensors::RotaryTensors(Device& device, std::int64_t sequence, std::int64_t width,
                             DataType dtype)
    : cosines_(device, {.shape = {sequence, width}, .dtype = dtype}),
      sines_(device, cosines_.spec()),
      negative_sines_(device, cosines_.spec()) {}

void RotaryTensors::write(CommandQueue& queue, double theta, const RopeScaling& scaling) const {
  const Shape& shape = cosines_.spec().shape;
  RotaryAngles angles = rotary_angles(shape.rows(), shape.columns(), theta, scaling);
  autograd::write_values(queue, cosines_, angles.cosines);
  autograd::write_values(queue, sines_, angles.sines);
  for (float& sine : angles.sines) sine = -sine;
  autograd::write_values(queue, negative_sines_, angles.sines);
}

autograd::RotaryTables RotaryTensors::on(autograd::Tape& tape) const {
  return {tape.constant(cosines_), tape.constant(sines_), tape.constant(negative_sines_)};
}

}  // namespace howard::models
