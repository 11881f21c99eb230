// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/formats/random_events.h"

#include <array>
#include <random>
#include <utility>

namespace howard::profiler::testing {
namespace {

class RandomEvents {
 public:
  explicit RandomEvents(std::uint32_t seed) : random_(seed) {}

  std::vector<TimelineEvent> make() {
    constexpr std::array kTracks = {Track{TrackKind::host_thread, Lane::none, 0},
                                    Track{TrackKind::command_queue, Lane::none, 1},
                                    Track{TrackKind::dispatcher, Lane::none, 0},
                                    Track{TrackKind::sub_device, Lane::none, 7},
                                    Track{TrackKind::core, Lane::none, core_index(3, 4)},
                                    Track{TrackKind::core, Lane::reader, core_index(255, 0)},
                                    Track{TrackKind::core, Lane::compute, core_index(0, 9)},
                                    Track{TrackKind::core, Lane::writer, core_index(7, 7)}};
    for (const Track& track : kTracks) {
      if (number(0, 3) != 0) add_spans(track, 0, 5'000'000'000, 2);
    }
    for (std::size_t i = events_.size(); i > 1; --i) {
      std::swap(events_[i - 1], events_[static_cast<std::size_t>(number(0, 1'000)) % i]);
    }
    return std::move(events_);
  }

 private:
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }

  void add_spans(const Track& track, std::int64_t low, std::int64_t high, int depth) {
    constexpr std::array<std::string_view, 4> kNames = {"matmul", "a \"b\"\n\\", "\xc3\xa9", ""};
    constexpr std::array<std::string_view, 3> kCategories = {"math", "read", "x,y"};
    for (std::int64_t at = low; at < high;) {
      const std::int64_t start = number(0, 2) == 0 ? at : number(at, high);
      const std::int64_t end = number(0, 4) == 0 ? start : number(start, high);
      events_.push_back(
          {.track = track,
           .trace = static_cast<std::uint32_t>(std::max<std::int64_t>(0, number(-3, 2))),
           .name = kNames[random_() % kNames.size()],
           .category = kCategories[random_() % kCategories.size()],
           .start = SimTime::picoseconds(start),
           .end = SimTime::picoseconds(end),
           .program = static_cast<std::uint64_t>(number(0, 5))});
      if (depth > 0 && end > start) add_spans(track, start, end, depth - 1);
      at = end + number(0, 1) * 1'000'000 + (end == at ? 1'000'000'000 : 0);
    }
  }

  std::mt19937 random_;
  std::vector<TimelineEvent> events_;
};

}  // namespace

std::vector<TimelineEvent> random_events(std::uint32_t seed) { return RandomEvents(seed).make(); }

}  // namespace howard::profiler::testing
