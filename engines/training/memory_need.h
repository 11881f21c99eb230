// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/units.h"
#include "engines/training/recipe.h"

namespace howard::training {

/// What a training run takes of the machine's memory, in bytes, without what its activations take
/// beyond the weights of attention: a run for which this is too much can not be made. Floating
/// point, because a recipe may hold any sizes.
struct MemoryNeed {
  double parameters = 0;   ///< How many there are.
  double tensors = 0;      ///< Them, their gradients and what the optimizer keeps of them.
  double checkpoints = 0;  ///< The last one, beside the next one or its file.
  double sequences = 0;    ///< Inputs, mask, weights of attention.
  double calls = 0;        ///< What the engine keeps of the calls of a step.

  double total() const { return tensors + checkpoints + sequences + calls; }
};

/// `vocabulary`: rows of the token table. `records`: the engine keeps the calls of a step, which
/// the dynamic one does not.
MemoryNeed memory_need(const Recipe& recipe, std::int64_t vocabulary, bool records);

/// Error, with what it needs, for a run that needs more than `available`.
void require_memory(const Recipe& recipe, std::int64_t vocabulary, bool records, Bytes available);

}  // namespace howard::training
