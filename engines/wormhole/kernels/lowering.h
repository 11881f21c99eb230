// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/device/program.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::wormhole {

/// The launches that ttnn makes of one call, in its order, on a compute grid of `grid`. Most calls
/// are one launch. Others are several: a reduction over all dimensions, ttnn's gelu backward,
/// elementwise ops on row-major operands, products whose kernel can not transpose.
/// What a launch hands to a later one is an operand without a buffer. Method: docs/method.md,
/// "Launches of a call".
std::vector<Program> lower(const Program& program, CoreGrid grid, const Profiles& profiles);

/// `program` without what does not change its launches or their times: buffers, scalars, seeds,
/// rates. Two programs are the same to the chip when these are equal; ttnn's program cache does the
/// same.
Program timing_key(const Program& program);

}  // namespace howard::wormhole
