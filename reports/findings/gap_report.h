// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "profiler/dispatch_gaps.h"
#include "profiler/timeline.h"
#include "reports/pictures/picture.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// The gaps of a timeline as tables, for experiments and for logs of real hardware in the same
/// words. `kind` is what the lanes were asked for.

/// Each lane's busy and idle time and the cause that it lost most to. Says how many events are
/// missing from the timeline.
Table lanes_table(const profiler::Timeline& timeline, std::span<const profiler::BusyLane> lanes,
                  profiler::LaneKind kind);

/// The idle time of all lanes by cause, the largest first.
Table causes_table(std::span<const profiler::BusyLane> lanes);

/// The idle time of all lanes by the op before and the op after, the `most` largest; the rest is
/// one row.
Table op_pairs_table(const profiler::Timeline& timeline, std::span<const profiler::BusyLane> lanes,
                     std::size_t most);

/// How many gaps of all lanes have which length.
Table gap_lengths_table(std::span<const profiler::BusyLane> lanes);

/// The idle time by three definitions: the complement of the union of busy intervals, the report's
/// and tt-metal's, and each one's share of three whole times.
Table gap_definitions_table(const profiler::Timeline& timeline);

/// Draws NAME_gaps (how many gaps have which length, and the idle time in them) and NAME_causes
/// (each lane's time by cause, busy included); their titles end with `of`. Lanes without gaps draw
/// nothing of the first.
PlotFiles write_gap_plots(std::span<const profiler::BusyLane> lanes, profiler::LaneKind kind,
                          const std::string& name, const std::string& of, const Canvas& canvas);

}  // namespace howard::reports
