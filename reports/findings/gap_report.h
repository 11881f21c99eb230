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

/// These functions show the gaps of a timeline as tables, in the same words for experiments and for
/// logs of real hardware.

/// Returns the idle time of all lanes by cause, the largest first.
Table causes_table(std::span<const profiler::BusyLane> lanes);

/// Returns the idle time of all lanes by the op before and the op after. It has the `most` largest;
/// the rest is one row.
Table op_pairs_table(const profiler::Timeline& timeline, std::span<const profiler::BusyLane> lanes,
                     std::size_t most);

/// Returns how many gaps of all lanes have which length.
Table gap_lengths_table(std::span<const profiler::BusyLane> lanes);

/// Draws NAME_gaps (how many gaps have which length, and the idle time in them) and NAME_causes
/// (each lane's time by cause, busy time included). Their titles end with `of`. NAME_gaps is not
/// drawn for lanes without gaps.
PlotFiles write_gap_plots(std::span<const profiler::BusyLane> lanes, profiler::LaneKind kind,
                          const std::string& name, const std::string& of, const Canvas& canvas);

}  // namespace howard::reports
