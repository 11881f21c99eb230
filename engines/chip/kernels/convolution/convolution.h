// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

// These kernels work on images that are sharded in L1, a row ("stick") for each place. What they
// cost is mostly the number of sticks that a RISC copies. docs/method/ops.md, "Convolutions", has
// the method.

/// Returns the time in which a RISC copies a stick of this size from its core's own L1, one of
/// many: the issue of the request or the way through the NoC port, whichever is longer.
SimTime stick_time(Bytes stick, const Profiles& profiles);

/// Returns the size of a stick of the tensor whose channels are dealt out over `channel_cores`;
/// row-major images are never of a block format.
Bytes stick_bytes(const TensorSpec& spec, std::int64_t channel_cores);

}  // namespace howard::chip
