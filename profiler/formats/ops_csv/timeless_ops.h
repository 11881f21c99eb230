// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "profiler/formats/log.h"
#include "profiler/formats/ops_csv/ops_columns.h"

namespace howard::profiler {

/// Keeps the device ops of a log that lack the device's times until it is known which of them were
/// captured into a trace: those of which a row says so, and those whose call a trace replays. The
/// others lost their times. `Op` is what the reader needs to know of one.
template <class Op>
class TimelessOps {
 public:
  /// Keeps an op; returns false for one that can be no capture, or where too many are kept.
  bool add(const OpRow& row, Op op) {
    const bool says_so = row.trace && !row.replay;
    if (ops_.size() == kMostLoggedPrograms || (!says_so && !row.call)) return false;
    ops_.push_back({row.call.value_or(0), says_so, std::move(op)});
    return true;
  }
  /// Takes note of a row with times.
  void add_timed(const OpRow& row) {
    if (row.replay && row.call) replayed_.insert(*row.call);
  }

  /// Gives every op to one of two functions, in the order of the rows, and forgets all.
  template <class Captured, class Lost>
  void sort(const Captured& captured, const Lost& lost) {
    for (const Kept& kept : ops_) {
      if (kept.says_so || replayed_.contains(kept.call)) {
        captured(kept.op);
      } else {
        lost(kept.op);
      }
    }
    ops_.clear();
    replayed_.clear();
  }

 private:
  struct Kept {
    std::int64_t call;
    bool says_so;
    Op op;
  };

  std::vector<Kept> ops_;
  std::unordered_set<std::int64_t> replayed_;
};

}  // namespace howard::profiler
