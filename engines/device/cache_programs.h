// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/device/program.h"

namespace howard {

// Programs on a cache of keys and values are those of other ops with operands besides.

/// Whether the last operand is a place in the cache, one uint32 that is read when the program runs.
inline bool has_position(const Program& program) {
  return program.inputs.size() > 2 && program.inputs.back().spec.dtype == DataType::uint32;
}

/// Whether a program of SliceAttributes writes its first operand into its second, in place, rather
/// than taking a part of its one operand.
inline bool writes_rows(const Program& program) { return program.inputs.size() > 1; }

}  // namespace howard
