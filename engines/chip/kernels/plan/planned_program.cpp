// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/plan/planned_program.h"

namespace howard::chip {

Bytes circular_buffer_bytes(const PlannedProgram& planned) {
  if (planned.matmul) return circular_buffer_bytes(*planned.matmul);
  // Each circular buffer holds two tiles; the largest tile has 32 bit numbers.
  return planned.footprint.circular_buffers * (2 * tile_bytes(DataType::float32));
}

}  // namespace howard::chip
