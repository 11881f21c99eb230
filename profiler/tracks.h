// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/events/timeline_event.h"

namespace howard::profiler {

/// Sorts tracks from the host down to the cores, row by row, and in the order in which data goes
/// through a core.
struct ReadingOrder {
  bool operator()(const Track& a, const Track& b) const {
    return std::tie(a.kind, a.index, a.lane) < std::tie(b.kind, b.index, b.lane);
  }
};

/// Returns the name that viewers show: "host thread 0", "sub-device 1", "core (3,4) reader".
std::string name_of(const Track& track);

/// Holds the events of one track by start, the longer first, so that a parent precedes its
/// children.
using TrackEvents = std::vector<const TimelineEvent*>;

/// Returns the events as an exporter writes them. Spans that end before they start, or that overlap
/// in part on one track, are a bug of the device that recorded them and stop the program.
std::map<Track, TrackEvents, ReadingOrder> by_track(std::span<const TimelineEvent> events);

}  // namespace howard::profiler
