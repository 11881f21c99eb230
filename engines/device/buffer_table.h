// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "engines/program/program.h"

namespace howard {

/// Holds one value for each buffer of a device, found by the buffer's number. A device numbers its
/// buffers in rising order, so the entries are sorted as they come. Entries need no allocation of
/// their own; in a std::map they do, and that takes as long as the rest of a call that makes a
/// small tensor.
template <class T>
class BufferTable {
 public:
  /// Adds an entry. `buffer` must be above all numbers that were ever added.
  T& add(BufferId buffer, T value) {
    return *slots_.emplace_back(Slot{buffer, std::move(value)}).value;
  }

  /// Returns null for an unknown buffer. The pointer is valid until the next add() or remove().
  T* find(BufferId buffer) { return const_cast<T*>(std::as_const(*this).find(buffer)); }
  const T* find(BufferId buffer) const {
    const auto slot = std::ranges::lower_bound(slots_, buffer, {}, &Slot::buffer);
    const bool found = slot != slots_.end() && slot->buffer == buffer && slot->value;
    return found ? &*slot->value : nullptr;
  }

  /// Removes the buffer's entry, if there is one.
  void remove(BufferId buffer) {
    const auto slot = std::ranges::lower_bound(slots_, buffer, {}, &Slot::buffer);
    if (slot == slots_.end() || slot->buffer != buffer || !slot->value) return;
    slot->value.reset();
    ++removed_;
    // Most buffers go in the reverse order of their coming. The other slots are erased once every
    // second slot is empty, so that each entry is moved only once or twice in all.
    while (!slots_.empty() && !slots_.back().value) {
      slots_.pop_back();
      --removed_;
    }
    if (2 * removed_ > slots_.size()) {
      std::erase_if(slots_, [](const Slot& one) { return !one.value; });
      removed_ = 0;
    }
  }

  /// Calls visit(buffer, value) for each entry, in rising order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.value) visit(slot.buffer, *slot.value);
    }
  }

 private:
  struct Slot {
    BufferId buffer;
    std::optional<T> value;  ///< Absent once the entry has been removed.
  };

  std::vector<Slot> slots_;
  std::size_t removed_ = 0;  ///< How many slots have no value.
};

}  // namespace howard
