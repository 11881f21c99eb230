// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Takes `count` columns of x from `first` on. The gradient is padded with zeros.
Value columns_of(Tape& tape, Value x, std::int64_t first, std::int64_t count);

}  // namespace howard::autograd
