// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/units.h"
#include "engines/training/recipe.h"

namespace howard::training {

/// Says how much of the machine's memory a training run needs, in bytes. Of the activations it
/// counts only the weights of attention that are kept, so it is a lower bound: a run for which even
/// this is too much cannot be made. It uses floating point because a recipe may hold any sizes.
struct MemoryNeed {
  double parameters = 0;   ///< The number of parameters.
  double tensors = 0;      ///< The parameters, their gradients and the state of the optimizer.
  double checkpoints = 0;  ///< The last checkpoint, beside the next one or its file.
  double sequences = 0;    ///< Inputs, mask and weights of attention.
  double calls = 0;        ///< What the engine keeps for the calls of a step.

  double total() const { return tensors + checkpoints + sequences + calls; }
};

/// `vocabulary` is the number of rows of the token table. `records` says whether the engine keeps
/// the calls of a step, which the dynamic one does not.
MemoryNeed memory_need(const Recipe& recipe, std::int64_t vocabulary, bool records);

/// Throws Error, with the memory needed, for a run that needs more than `available`.
void require_memory(const Recipe& recipe, std::int64_t vocabulary, bool records, Bytes available);

}  // namespace howard::training
