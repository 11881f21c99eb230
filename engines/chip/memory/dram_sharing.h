// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/sim_time.h"

namespace howard::chip {

/// DRAM bandwidth in millionths of what the chip can deliver. It is an integer, so that sharing it
/// among programs gives the same picoseconds everywhere.
using DramShare = std::int64_t;
inline constexpr DramShare kAllOfDram = 1'000'000;

/// Returns the share of the DRAM that a program takes, if its traffic keeps all of the DRAM busy
/// for `busy` of the `total` time it runs alone.
DramShare share_of(SimTime busy, SimTime total);

/// The speed of a program, in millionths of its speed when alone.
using Speed = std::int64_t;
inline constexpr Speed kFullSpeed = 1'000'000;

/// Returns the speeds of programs that run at the same time. Bandwidth is shared max-min fairly: a
/// program that wants less than an equal part gets all it wants, and the others divide the rest
/// equally. A program that wants no DRAM is never slowed down.
///
/// `wanted` has what each program takes of the DRAM when it runs alone.
std::vector<Speed> shared_speeds(std::span<const DramShare> wanted);

/// work_done returns the work done in `elapsed` at `speed`; time_for returns the time that `work`
/// takes at `speed`, rounded up. Work is time at full speed. `speed` is positive.
SimTime work_done(SimTime elapsed, Speed speed);
SimTime time_for(SimTime work, Speed speed);

}  // namespace howard::chip
