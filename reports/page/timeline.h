// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "profiler/formats/traces/trace_process.h"
#include "profiler/memory.h"

namespace howard::reports {

/// Holds a recorded point, or a device of a log, for the timeline of a page.
struct TimelinePoint {
  profiler::TraceProcess process;
  /// The memory of the same run, by the same clock; null if it was not recorded. What happened
  /// before the first event of the process counts as its beginning.
  const profiler::MemoryUse* memory = nullptr;
};

/// A page has about so many spans: more would make it larger than 5 MB.
inline constexpr std::size_t kMostSpans = 100'000;

/// Returns the recorded points as JSON for the page's timeline: an array with an object for each
/// point.
///
///   {"name": "...", "texts": ["matmul", ...],
///    "tracks": [{"name": "sub-device 0", "spans": [START, DURATION, NAME, CATEGORY, NOTES, ...]}],
///    "gaps": [START, DURATION, CAUSE, ...], "colors": {"CAUSE": "#d55e00", ...},
///    "memory": [{"name": "DRAM", "levels": [START, BYTES, ...]}],
///    "phases": [START, DURATION, NAME, ...],
///    "left_out": "..."}
///
/// Times are integer picoseconds. A START is counted from the one before it in its list, the first
/// from the start of the point. Names, categories, notes and causes are places in `texts`.
///
/// Where points have more than `most_spans` spans together, spans that begin close to each other
/// are joined to one, whose notes say how many they are; "left_out" then says so. Only the first
/// four cores are shown, which "left_out" says too: the cores of a kernel do the same at nearly the
/// same time. No "<" stands in the text, so that it may stand within an element of a page.
std::string timeline_json(std::span<const TimelinePoint> points,
                          std::size_t most_spans = kMostSpans);

}  // namespace howard::reports
