// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/language/weights/model_weights.h"
#include "engines/training/recipe.h"

namespace howard::training {

using language::NamedValues;

/// The state of a training run between two steps: everything that later steps depend on, except the
/// text.
struct Checkpoint {
  Recipe recipe;
  std::int64_t step = 0;  ///< How many steps are done.
  /// The checksum of the text, so that a run can only continue with its own text.
  std::uint32_t text_checksum = 0;
  std::vector<std::string> characters;  ///< The characters of the tokenizer.
  std::vector<NamedValues> tensors;     ///< The parameters and the state of the optimizer.

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// Throws Error unless a run with this recipe, text and tokenizer can go on from `checkpoint`. The
/// number of steps may differ.
void require_same_run(const Checkpoint& checkpoint, const Recipe& recipe,
                      std::uint32_t text_checksum, const std::vector<std::string>& characters);

bool is_finite(const NamedValues& tensor);
/// Throws Error when one of the values of a tensor is not finite after `step` steps.
void require_finite(const NamedValues& tensor, std::int64_t step);

/// Returns the values of a tensor. Throws Error unless the checkpoint has it in this size.
const std::vector<float>& saved_values(const Checkpoint& checkpoint, std::string_view name,
                                       std::int64_t rows, std::int64_t columns);

/// Returns the content of a checkpoint file of version 1: "HOWARDCK", the version, the length of
/// what follows, the recipe and the ways of products as text, the other members of Checkpoint in
/// their order, and the checksum of all that. Integers and float32 are little endian.
std::string checkpoint_bytes(const Checkpoint& checkpoint);
/// Parses checkpoint_bytes(). `source` is the file's name in messages. Throws Error when `bytes` is
/// not a checkpoint, has another version, or is truncated or damaged.
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& source);

}  // namespace howard::training
