// SPDX-License-Identifier: Apache-2.0
#include "profiler/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/check.h"

namespace howard::profiler {
namespace {

std::string_view name_of(Lane lane) {
  switch (lane) {
    case Lane::none:
      return "";
    case Lane::reader:
      return " reader";
    case Lane::compute:
      return " compute";
    case Lane::writer:
      return " writer";
  }
  return "";
}

void check_spans(const TrackEvents& events) {
  std::vector<SimTime> open_ends;
  for (const TimelineEvent* event : events) {
    HOWARD_CHECK(event->end >= event->start, "a trace event ends before it starts");
    while (!open_ends.empty() && open_ends.back() <= event->start) open_ends.pop_back();
    HOWARD_CHECK(open_ends.empty() || event->end <= open_ends.back(),
                 "two trace events of one track overlap in part");
    open_ends.push_back(event->end);
  }
}

}  // namespace

std::string name_of(const Track& track) {
  switch (track.kind) {
    case TrackKind::host_thread:
      return fmt::format("host thread {}", track.index);
    case TrackKind::command_queue:
      return fmt::format("command queue {}", track.index);
    case TrackKind::dispatcher:
      return fmt::format("dispatcher {}", track.index);
    case TrackKind::sub_device:
      return fmt::format("sub-device {}", track.index);
    case TrackKind::core:
      return fmt::format("core ({},{}){}", core_x(track.index), core_y(track.index),
                         name_of(track.lane));
  }
  return "";
}

std::map<Track, TrackEvents, ReadingOrder> by_track(std::span<const TimelineEvent> events) {
  std::map<Track, TrackEvents, ReadingOrder> tracks;
  for (const TimelineEvent& event : events) tracks[event.track].push_back(&event);
  const auto before = [](const TimelineEvent* a, const TimelineEvent* b) {
    return a->start != b->start ? a->start < b->start : a->end > b->end;
  };
  for (auto& [track, list] : tracks) {
    // Devices mostly record in order.
    if (!std::ranges::is_sorted(list, before)) std::ranges::stable_sort(list, before);
    check_spans(list);
  }
  return tracks;
}

}  // namespace howard::profiler
