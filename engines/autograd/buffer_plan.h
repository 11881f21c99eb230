// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "base/units.h"
#include "engines/autograd/recorder.h"

namespace howard::autograd {

/// Which buffers of a recorded step share memory: those of one size whose values are never needed
/// at the same time. The result of an elementwise program may take the place of an operand that
/// nothing needs afterwards.
///
/// Sharing among equal sizes only keeps each buffer what its device allocated it for, and is
/// optimal among those: in order of their first use, each takes a place that has become free.
struct BufferPlan {
  std::map<BufferId, std::size_t> place;  ///< Of each buffer that the step uses.
  std::vector<TensorSpec> places;         ///< What to allocate.
  Bytes unshared;                         ///< All the step's buffers, each with memory of its own.
  Bytes planned;                          ///< The places.

  Bytes saved() const { return unshared - planned; }
};

/// A buffer that was not released when the recording ended keeps its values to the end of the
/// step; one that the host wrote shares with none. A buffer that is read before it is written is a
/// bug.
BufferPlan plan_buffers(const Recorder& recorder);

}  // namespace howard::autograd
