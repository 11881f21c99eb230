// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "engines/wormhole/dispatch/launch.h"

namespace howard::wormhole {

/// The part of the DRAM that a program takes whose traffic keeps all of it busy for `busy` of the
/// `total` time it runs alone.
DramShare share_of(SimTime busy, SimTime total);

/// How fast a program goes, in millionths of its speed alone.
using Speed = std::int64_t;
inline constexpr Speed kFullSpeed = 1'000'000;

/// The speeds of programs that run at the same time. Bandwidth is shared max-min fairly: whoever
/// wants less than an equal part gets all it wants, the others divide the rest equally. A program
/// that wants no DRAM is never slowed down.
///
/// `wanted`: what each takes of the DRAM while it runs alone.
std::vector<Speed> shared_speeds(std::span<const DramShare> wanted);

/// The work done in `elapsed` at `speed`, and the time `work` takes at it (rounded up), both in
/// time at full speed. `speed` is positive.
SimTime work_done(SimTime elapsed, Speed speed);
SimTime time_for(SimTime work, Speed speed);

}  // namespace howard::wormhole
