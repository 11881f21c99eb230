// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "engines/device/program.h"

namespace howard {

/// Something for each buffer of a device, by its number. A device numbers its buffers in rising
/// order, so they are sorted as they come; no entry has an allocation of its own, as it has in a
/// std::map, where it takes as long as the rest of a call that makes a small tensor.
template <class T>
class BufferTable {
 public:
  /// `buffer` must be above all that are there or were.
  T& add(BufferId buffer, T value) {
    return *slots_.emplace_back(Slot{buffer, std::move(value)}).value;
  }

  /// Null for a buffer that is not there. Until the next add() or remove().
  T* find(BufferId buffer) { return const_cast<T*>(std::as_const(*this).find(buffer)); }
  const T* find(BufferId buffer) const {
    const auto slot = std::ranges::lower_bound(slots_, buffer, {}, &Slot::buffer);
    const bool found = slot != slots_.end() && slot->buffer == buffer && slot->value;
    return found ? &*slot->value : nullptr;
  }

  /// Nothing when it is not there.
  void remove(BufferId buffer) {
    const auto slot = std::ranges::lower_bound(slots_, buffer, {}, &Slot::buffer);
    if (slot == slots_.end() || slot->buffer != buffer || !slot->value) return;
    slot->value.reset();
    ++removed_;
    // Most go in the opposite order of their coming; the others when they are every second one, so
    // that each is moved once or twice in all.
    while (!slots_.empty() && !slots_.back().value) {
      slots_.pop_back();
      --removed_;
    }
    if (2 * removed_ > slots_.size()) {
      std::erase_if(slots_, [](const Slot& one) { return !one.value; });
      removed_ = 0;
    }
  }

  /// visit(buffer, value) for each, in rising order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.value) visit(slot.buffer, *slot.value);
    }
  }

 private:
  struct Slot {
    BufferId buffer;
    std::optional<T> value;  ///< Absent: removed.
  };

  std::vector<Slot> slots_;
  std::size_t removed_ = 0;  ///< Slots without a value.
};

}  // namespace howard
