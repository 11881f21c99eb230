// SPDX-License-Identifier: Apache-2.0
#include "profiler/memory.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace howard::profiler {
namespace {

Bytes dram_of(const MemoryPoint& point) { return point.dram; }
Bytes l1_of(const MemoryPoint& point) { return point.l1(); }

/// Goes through the events and keeps what is live.
class Replay {
 public:
  void apply(const MemoryEvent& event) {
    const std::pair key{event.kind, event.buffer};
    const auto found = live_.find(key);
    const bool allocates = event.action == MemoryAction::allocate;
    if (allocates == (found != live_.end())) {
      ++use_.unmatched;
      return;
    }
    if (use_.phases.empty() || use_.phases.back().name != event.phase) begin_phase(event);
    if (allocates) {
      HOWARD_CHECK(event.size >= Bytes(), "no buffer has a negative size");
      live_.emplace(key, use_.lifetimes.size());
      points_.push_back({use_.curve.size(), kNever});
      use_.lifetimes.push_back({.buffer = event.buffer,
                                .kind = event.kind,
                                .size = event.size,
                                .name = std::string(event.name),
                                .phase = std::string(event.phase),
                                .allocated = event.time,
                                .released = std::nullopt});
      change(event.kind, event.size);
    } else {
      BufferLifetime& lifetime = use_.lifetimes[found->second];
      lifetime.released = event.time;
      points_[found->second].released = use_.curve.size();
      live_.erase(found);
      change(event.kind, Bytes() - lifetime.size);
    }
    now_.time = event.time;
    use_.curve.push_back(now_);
    note_peaks();
  }

  MemoryUse take() {
    use_.dram_peak_holders = holders(&dram_of, false);
    use_.l1_peak_holders = holders(&l1_of, true);
    return std::move(use_);
  }

 private:
  static constexpr std::size_t kNever = static_cast<std::size_t>(-1);
  /// Holds indices into the curve; `released` is the first point without the buffer.
  struct Points {
    std::size_t allocated = 0;
    std::size_t released = kNever;
  };

  void begin_phase(const MemoryEvent& event) {
    MemoryPhase phase{.name = std::string(event.phase), .start = event.time, .end = event.time};
    phase.dram.cumulative_peak = now_.dram;
    phase.dram.cumulative_current = now_.dram;
    phase.l1 = {.circular_buffers_peak = now_.l1_circular_buffers,
                .buffers_peak = now_.l1_buffers,
                .total_peak = now_.l1()};
    use_.phases.push_back(std::move(phase));
  }

  void change(MemoryKind kind, Bytes amount) {
    MemoryPhase::Dram& dram = use_.phases.back().dram;
    switch (kind) {
      case MemoryKind::dram:
        now_.dram += amount;
        if (amount >= Bytes()) {
          dram.allocated += amount;
        } else {
          dram.released = dram.released - amount;
        }
        break;
      case MemoryKind::l1_buffer:
        now_.l1_buffers += amount;
        break;
      case MemoryKind::l1_circular_buffer:
        now_.l1_circular_buffers += amount;
        break;
    }
  }

  void note_peaks() {
    MemoryPhase& phase = use_.phases.back();
    phase.end = now_.time;
    MemoryPhase::Dram& dram = phase.dram;
    dram.cumulative_current = now_.dram;
    dram.cumulative_peak = std::max(dram.cumulative_peak, now_.dram);
    dram.peak = dram.cumulative_peak - (now_.dram - dram.change());
    MemoryPhase::L1& l1 = phase.l1;
    l1.circular_buffers_peak = std::max(l1.circular_buffers_peak, now_.l1_circular_buffers);
    l1.buffers_peak = std::max(l1.buffers_peak, now_.l1_buffers);
    l1.total_peak = std::max(l1.total_peak, now_.l1());
  }

  /// Returns what was live at the first highest point of `amount`, the largest first.
  std::vector<std::size_t> holders(Bytes (*amount)(const MemoryPoint&), bool in_l1) const {
    std::vector<std::size_t> live;
    const auto highest = std::ranges::max_element(use_.curve, {}, amount);
    const auto point = static_cast<std::size_t>(highest - use_.curve.begin());
    for (std::size_t i = 0; i < use_.lifetimes.size(); ++i) {
      const bool here = (use_.lifetimes[i].kind != MemoryKind::dram) == in_l1;
      if (here && points_[i].allocated <= point && point < points_[i].released) live.push_back(i);
    }
    std::ranges::stable_sort(live, std::greater(),
                             [&](std::size_t i) { return use_.lifetimes[i].size; });
    return live;
  }

  MemoryUse use_;
  /// Maps to the lifetime's index.
  std::map<std::pair<MemoryKind, std::uint64_t>, std::size_t> live_;
  std::vector<Points> points_;  ///< The points of each lifetime.
  MemoryPoint now_;
};

MemoryPoint highest(const std::vector<MemoryPoint>& curve, Bytes (*amount)(const MemoryPoint&)) {
  const auto found = std::ranges::max_element(curve, {}, amount);
  return found == curve.end() ? MemoryPoint{} : *found;
}

}  // namespace

MemoryPoint MemoryUse::dram_peak() const { return highest(curve, &dram_of); }
MemoryPoint MemoryUse::l1_peak() const { return highest(curve, &l1_of); }

MemoryUse memory_use(std::span<const MemoryEvent> events) {
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return events[i].time; });
  Replay replay;
  for (const std::size_t i : order) replay.apply(events[i]);
  return replay.take();
}

}  // namespace howard::profiler
