// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Returns log(sum of exp(logits)) - logit of the target for each position, [n, 1, s, 1].
Value cross_entropies(Tape& tape, Value logits, Value targets);

/// Returns the mean over all positions of weight (log(sum of exp(logits)) - logit of the target),
/// for logits [n, 1, s, v], targets [n, s] and weights [n, 1, s, 1], by the calls of TTML's trainer
/// of examples: a loss of each position, a product, a mean. Backward, one more product takes the
/// slopes of all logits times the gradient of their position.
Value weighted_cross_entropy(Tape& tape, Value logits, Value targets, Value weights);

}  // namespace howard::autograd
