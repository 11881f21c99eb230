// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Adds the elements up to each place: along the columns for `dim` 2, along the rows for 3.
Value cumsum(Tape& tape, Value x, int dim);

}  // namespace howard::autograd
