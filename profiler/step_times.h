// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/sim_time.h"

namespace howard::profiler {

/// Holds the time of a training step of a chip, or of a part of it, and where it goes. Times of
/// several chips are means over them.
struct StepTimes {
  SimTime time;      ///< All of it.
  SimTime compute;   ///< Kernels that compute.
  SimTime sums;      ///< Sums of gradients over groups, where they are told from the exchange.
  SimTime exchange;  ///< Other collectives and sends; nothing else ran then.
  SimTime bubble;    ///< The chip waited for other stages, or for other ranks of tiers.

  /// Returns what is left: the host's calls and the dispatcher as far as kernels do not hide them,
  /// transfers between chip and host, and gaps.
  SimTime rest() const { return time - compute - sums - exchange - bubble; }
  /// Returns the parts by name; they add up to the time.
  std::array<std::pair<std::string_view, SimTime>, 4> parts() const {
    return {{{"compute", compute},
             {"exchange", sums + exchange},
             {"bubble", bubble},
             {"rest", rest()}}};
  }

  friend StepTimes operator+(const StepTimes& a, const StepTimes& b) {
    return {a.time + b.time, a.compute + b.compute, a.sums + b.sums, a.exchange + b.exchange,
            a.bubble + b.bubble};
  }
  friend StepTimes operator*(const StepTimes& a, std::int64_t n) {
    return {a.time * n, a.compute * n, a.sums * n, a.exchange * n, a.bubble * n};
  }
};

/// Returns the times of `count` micro-batches in one step, each after the second like it.
inline StepTimes extended(const StepTimes& one, const StepTimes& two, std::int64_t count) {
  return two + (two + one * -1) * (count - 2);
}

}  // namespace howard::profiler
