// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

// TTML's attention from latent rows is put together from these parts and from columns.h.

/// Turns [n, 1, s, heads d] into [n, heads, s, d] by a reshape and a transposition. Throws
/// Error unless the heads divide the columns.
Value separate_heads(Tape& tape, Value x, int heads);

/// Repeats the one head of x [n, 1, s, d] by a concat. Its gradients are summed.
Value repeated_head(Tape& tape, Value x, int heads);

}  // namespace howard::autograd
