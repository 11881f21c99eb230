// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "profiler/formats/traces/trace_process.h"

namespace howard::reports {

/// The recorded points as JSON for the page's timeline: an array with an object for each point.
///
///   {"name": "...", "texts": ["matmul", ...],
///    "tracks": [{"name": "sub-device 0", "spans": [START, DURATION, NAME, CATEGORY, NOTES, ...]}],
///    "gaps": [START, DURATION, CAUSE, ...]}
///
/// Times are integer picoseconds since the start of the point; names, categories, notes and causes
/// are places in `texts`. Of the cores only the first ones are shown, and the object then says in
/// "left_out" how many are not: the cores of a kernel do the same at nearly the same time. No "<"
/// stands in the text, so that it may stand within an element of a page.
std::string timeline_json(std::span<const profiler::TraceProcess> points);

}  // namespace howard::reports
