// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/autograd/functions/collective/collectives.h"
#include "engines/autograd/tape.h"

namespace howard::autograd {

/// Holds what a device knows of its columns of the logits.
struct VocabularyShare {
  ops::Tensor tokens;   ///< [1, v] float32: the token of each of its columns.
  ops::Tensor numbers;  ///< [V, 1] float32 row-major: the number of each token of the vocabulary.
};

/// Makes the share of `vocabulary` columns that the device at the group's place has. Throws Error
/// unless the devices divide the columns evenly.
VocabularyShare vocabulary_share(Device& device, std::int64_t vocabulary, const DeviceGroup& group);

/// Returns the mean cross-entropy, as mean_cross_entropy() does, of logits [n, 1, s, v] that are
/// the columns of one device. Instead of the logits, the devices exchange three numbers for each
/// position: the largest logit, the sum of the exponentials and the target's logit. backward() must
/// begin with this value.
Value sharded_cross_entropy(Tape& tape, Value logits, Value targets, const VocabularyShare& share,
                            const DeviceGroup& group);

}  // namespace howard::autograd
