// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "engines/chip/kernels/plan/kernel_buffers.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"
#include "engines/query/op.h"

namespace howard::query {

/// A program of those that ttnn makes of a call.
struct OpStep {
  Program program;
  /// Its circular buffers, where the call has operands that no kind of program has.
  std::optional<chip::KernelBuffers> buffers{};
};

/// Returns the programs of a call on the cores of `grid`, in their order; each takes what the one
/// before it has made, and the last one makes the result. Throws Error for an op that is not known,
/// for operands that do not fit, and for what ttnn refuses.
std::vector<OpStep> steps_of(const OpCall& call, CoreGrid grid, const chip::Profiles& profiles);

}  // namespace howard::query
