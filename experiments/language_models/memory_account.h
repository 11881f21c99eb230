// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/units.h"
#include "experiments/language_models/serving.h"

namespace howard::experiments {

/// Says what a chip's DRAM holds while it serves.
struct MemoryAccount {
  Bytes weights;      ///< Of the layers and the head, in their formats.
  Bytes embedding;    ///< The token table and the tables of the rotary positions.
  Bytes cache;        ///< Keys and values of all layers.
  Bytes activations;  ///< The most that a chunk of the prompt needs at a time.
  Bytes capacity;     ///< The DRAM that the chip has, without its region for traces.

  Bytes needed() const { return weights + embedding + cache + activations; }
  bool fits() const { return needed() <= capacity; }
};

/// Accounts for the chips of `capacity` each.
MemoryAccount memory_account(const Serving& serving, Bytes capacity);

/// Returns "yes", or what it needs and what would fit: a mode, a machine, fewer users, less room.
std::string fit_text(const Serving& serving, Bytes capacity);

}  // namespace howard::experiments
