// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::wormhole {

// What chips that are wired to each other by ethernet do together. A chip by itself is a
// WormholeDevice.

/// The time in which `chips` chips sum a buffer of `size` so that each has the sum, as a program of
/// tt-metal's collectives: a start, a step for each of the `hops` links of the line they stand on,
/// and 2 (chips - 1) / chips of the buffer through the busiest link. Zero for one chip.
SimTime all_reduce_time(const CollectiveCosts& costs, int chips, int hops, Bytes size);

/// The profiles of a chip that is reached through another one: transfers go through the tunnel, and
/// a completion and what the host answers cross the link. What the tunnel costs each program is not
/// known and not counted.
Profiles behind_ethernet(Profiles profiles);

}  // namespace howard::wormhole
