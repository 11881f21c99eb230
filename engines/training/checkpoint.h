// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/training/recipe.h"

namespace howard::training {

/// The values of a tensor, row by row.
struct NamedValues {
  std::string name;
  std::vector<float> values;

  friend bool operator==(const NamedValues&, const NamedValues&) = default;
};

/// A training run between two steps: all that the steps to come depend on, the text aside.
struct Checkpoint {
  Recipe recipe;
  std::int64_t step = 0;                ///< How many are done.
  std::uint32_t text_checksum = 0;      ///< Of the text, so that a run goes on with its own.
  std::vector<std::string> characters;  ///< The tokenizer's.
  std::vector<NamedValues> tensors;     ///< Parameters and what the optimizer keeps.

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// The CRC-32 of Ethernet and zip.
std::uint32_t checksum(std::string_view bytes);

/// A file of version 1: "HOWARDCK", the version, the length of what follows, the recipe as text,
/// the rest of Checkpoint in its order, and the checksum of all that; whole numbers and float32 in
/// little endian.
std::string checkpoint_bytes(const Checkpoint& checkpoint);
/// The inverse. `source` names it in messages. Error when it is no checkpoint, of another version,
/// truncated, or damaged.
Checkpoint parse_checkpoint(std::string_view bytes, const std::string& source);

}  // namespace howard::training
