// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/device_log/cycle_counter.h"

#include "base/wide.h"

namespace howard::profiler {
namespace {

bool wrapped(std::int64_t from, std::int64_t to) {
  return from >= CycleCounter::kModulus - CycleCounter::kNearEnd && from < CycleCounter::kModulus &&
         to >= 0 && to < CycleCounter::kNearEnd;
}

}  // namespace

std::optional<std::int64_t> CycleCounter::continued(std::int64_t cycle) {
  if (cycle < 0 || cycle >= kMost) return std::nullopt;
  if (wrapped(last_, cycle)) {
    ++wraps_;
  } else if (wraps_ > 0 && wrapped(cycle, last_)) {
    --wraps_;  // a row from before the wrap among those after it
  }
  last_ = cycle;
  const std::int64_t value = cycle + wraps_ * kModulus;
  return value < kMost ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> CycleCounter::between(std::int64_t start, std::int64_t end) {
  if (end >= start) return end - start;
  if (wrapped(start, end)) return end + kModulus - start;
  return std::nullopt;
}

SimTime time_of_cycles(std::int64_t cycles, Frequency clock) {
  constexpr Wide kPicosecondsPerSecond = 1'000'000'000'000;
  const Wide hertz = clock.value();
  return SimTime::picoseconds(
      static_cast<std::int64_t>((cycles * kPicosecondsPerSecond + hertz / 2) / hertz));
}

}  // namespace howard::profiler
