// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "base/units.h"
#include "engines/autograd/steps/step_recorder.h"

namespace howard::autograd {

/// Says which buffers of a recorded step share memory: buffers of one size whose values are never
/// needed at the same time. The result of an elementwise program may take the place of an operand
/// that nothing needs afterwards.
///
/// Only buffers of equal size share, so each buffer keeps the size that its device allocated it
/// with. Among such plans this one is optimal: in order of their first use, each buffer takes a
/// place that has become free.
struct BufferPlan {
  /// The index of its place for each buffer that the step uses.
  std::map<BufferId, std::size_t> place;
  std::vector<TensorSpec> places;  ///< The tensors to allocate.
  Bytes unshared;                  ///< The size of all buffers if nothing were shared.
  Bytes planned;                   ///< The size of the places.

  Bytes saved() const { return unshared - planned; }
};

/// Plans the buffers of a recording. A buffer that was not released when the recording ended keeps
/// its values to the end of the step; a buffer that the host wrote shares with none. A buffer that
/// is read before it is written is a bug.
BufferPlan plan_buffers(const StepRecorder& recorder);

}  // namespace howard::autograd
