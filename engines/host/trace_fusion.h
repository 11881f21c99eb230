// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engines/device/program.h"

namespace howard::host {

/// Programs of a trace that run as one: a product and the elementwise programs behind it, or
/// elementwise programs, the last of which may be the sum or mean of everything.
struct FusedPrograms {
  std::vector<std::size_t> members;  ///< Indices into the trace, in its order.
  /// For each member, whether its result is to be stored: other programs read it or the trace
  /// leaves it behind.
  std::vector<bool> kept;
  /// For each member and each of its inputs, the place among the members of the one that makes it.
  std::vector<std::vector<std::optional<std::size_t>>> makers;
};

/// The trace as a list of what runs as one, in an order that gives every program the values that it
/// had in the trace's own order. Members are moved to one another only across programs that neither
/// read nor write what they store, nor store to what they read.
///
/// What a trace leaves behind: a result that none of its programs reads, and the last value of a
/// buffer that it reads before it writes. All other buffers that it writes are its intermediates,
/// which may keep any value. A result that is overwritten and that nobody reads must have a buffer
/// of its own, as with_own_names() gives it.
std::vector<FusedPrograms> fuse(std::span<const Program> trace);

/// Whether a group can begin with `program`: a product or elementwise.
bool can_lead(const Program& program);

/// Whether `program` works on each element by itself, on operands of the result's shape, one row or
/// a scalar, of bfloat16 and float32: what can be fused.
bool is_elementwise(const Program& program);

/// Whether it is the sum or mean of all elements of its operand.
bool is_whole_sum(const Program& program);

}  // namespace howard::host
