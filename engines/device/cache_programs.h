// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"

namespace howard {

// Programs on a cache of keys and values have the attributes of other ops and more operands.

/// Says whether the last operand is a place in the cache: one uint32 that is read when the program
/// runs.
inline bool has_position(const Program& program) {
  return program.inputs.size() > 2 && program.inputs.back().spec.dtype == DataType::uint32;
}

/// Says whether a program of SliceAttributes writes its first operand into its second, in place,
/// instead of taking a part of its only operand.
inline bool writes_rows(const Program& program) { return program.inputs.size() > 1; }

}  // namespace howard
