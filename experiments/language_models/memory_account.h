// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"
#include "engines/program/tensor_spec.h"
#include "experiments/language_models/serving.h"

namespace howard::experiments {

/// A block of a paged cache has the places of so many tokens of a user: tt_transformers'
/// block_size.
inline constexpr std::int64_t kBlockTokens = kTileSide;

/// Says what a chip's DRAM holds while it serves.
struct MemoryAccount {
  Bytes weights;      ///< Of the layers and the head, in their formats.
  Bytes embedding;    ///< The token table and the tables of the rotary positions.
  Bytes cache;        ///< Keys and values of all layers.
  Bytes activations;  ///< The most that a chunk of the prompt needs at a time.
  Bytes block;        ///< Keys and values of a block of the cache in all layers.
  Bytes capacity;     ///< The DRAM that the chip has, without its region for traces.

  std::int64_t blocks() const { return cache.value() / block.value(); }
  /// Returns of how many blocks a cache would fit beside the rest.
  std::int64_t most_blocks() const {
    const Bytes rest = needed() - cache;
    return rest > capacity ? 0 : (capacity - rest).value() / block.value();
  }
  Bytes needed() const { return weights + embedding + cache + activations; }
  bool fits() const { return needed() <= capacity; }
};

/// Accounts for the chips of `capacity` each.
MemoryAccount memory_account(const Serving& serving, Bytes capacity);

/// Returns "yes", or what it needs and what would fit: a mode, the most users, the longest context
/// or the most room, the largest region for traces, or a machine. `region` is that region, which is
/// not part of the capacity.
std::string fit_text(const Serving& serving, Bytes capacity, Bytes region);

}  // namespace howard::experiments
