// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "engines/device/device.h"
#include "engines/device/program.h"
#include "profiler/formats/ops_csv_reader.h"

namespace howard::profiler {

/// The emulator's program of a row of a log: what ttnn's device operation was asked to compute, by
/// its OP CODE, ATTRIBUTES, MATH FIDELITY and tensors. Absent when the emulator has no such op.
/// Error, with the reason, when it has and cannot run this call: sharded operands, an activation
/// that is fused into it, operands that do not fit.
///
/// Operands are allocated on `device` and released again: the program can be planned, not run. What
/// the log has no columns for is made up from what it has (the statistics of a layer norm).
std::optional<Program> logged_program(const OpRow& row, Device& device);

/// The cores that the op could be spread over: by its attribute worker_grid, which not all ops
/// have, or AVAILABLE WORKER CORE COUNT. Absent when the log has neither. Error when their number
/// is no grid of Wormhole's, whose rows have eight.
std::optional<CoreGrid> logged_grid(const OpRow& row);

}  // namespace howard::profiler
