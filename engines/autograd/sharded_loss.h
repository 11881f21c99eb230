// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/collectives.h"
#include "engines/autograd/tape.h"

namespace howard::autograd {

/// What a device knows of its columns of the logits.
struct VocabularyShare {
  ops::Tensor tokens;   ///< [1, v] float32: the token of each of its columns.
  ops::Tensor numbers;  ///< [V, 1] float32 row-major: the number of each token of the vocabulary.
};

/// Makes the share of the device at the group's place of `vocabulary` columns. Throws Error unless
/// the devices divide them.
VocabularyShare vocabulary_share(Device& device, std::int64_t vocabulary, const DeviceGroup& group);

/// Returns the mean cross-entropy as mean_cross_entropy() does, of logits [n, 1, s, v] that are the
/// columns of one device. In the place of the logits, the devices exchange three numbers for each
/// position: the largest logit, the sum of the exponentials and the target's logit. It must be what
/// backward() begins with.
Value sharded_cross_entropy(Tape& tape, Value logits, Value targets, const VocabularyShare& share,
                            const DeviceGroup& group);

}  // namespace howard::autograd
