// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engines/program/program.h"

namespace howard::host {

/// Programs of a trace that run as one: a product and the elementwise programs after it, or only
/// elementwise programs. The last one may be the sum or mean of everything.
struct FusedPrograms {
  std::vector<std::size_t> members;  ///< Indices into the trace, in its order.
  /// Says for each member whether its result must be stored, because other programs read it or the
  /// trace leaves it behind.
  std::vector<bool> kept;
  /// The index of the member that makes it, if one does, for each member and each of its inputs.
  std::vector<std::vector<std::optional<std::size_t>>> makers;
};

/// Divides the trace into groups that run as one. The order of the groups gives every program the
/// same values as the trace's own order. Members are moved next to one another only across programs
/// that neither read nor write what the members store, and do not store to what they read.
///
/// A trace leaves behind each result that none of its programs reads, and the last value of each
/// buffer that it reads before it writes. All other buffers that it writes are its intermediates,
/// which may end with any value. A result that is overwritten and that nobody reads must have a
/// buffer of its own; with_own_names() gives it one.
std::vector<FusedPrograms> fuse(std::span<const Program> trace);

/// Returns whether `program` is a product that a pass can follow: one without an activation of its
/// own.
bool is_product(const Program& program);

/// Returns whether a group can begin with `program`: it must be a product or elementwise.
bool can_lead(const Program& program);

/// Returns whether `program` can be fused: it works on each element by itself, and its operands
/// have the result's shape, one row or a scalar, in bfloat16 or float32.
bool is_elementwise(const Program& program);

/// Returns whether `program` is the sum or mean of all elements of its operand.
bool is_whole_sum(const Program& program);

}  // namespace howard::host
