// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::wormhole {

// This is about several chips that are wired to each other by ethernet. A single chip is a
// WormholeDevice.

/// Returns the time in which `chips` chips sum a buffer of `size` so that each has the sum, with a
/// program of tt-metal's collectives. It consists of a start, a step for each of the `hops` links
/// of the line they stand on, and the time that 2 (chips - 1) / chips of the buffer takes through
/// the busiest link. For one chip it is zero.
SimTime all_reduce_time(const CollectiveCosts& costs, int chips, int hops, Bytes size);

/// Returns the time of one half of all_reduce_time(): of the reduce_scatter that leaves each chip a
/// share of the sum, or of the all_gather that brings the shares to all. `size` is that of the
/// whole tensor. tt-metal's own formulas for the two on a line of eight differ from half of its
/// all_reduce by up to 13 %, and on a line of two all_gather is 17 % slower.
SimTime half_all_reduce_time(const CollectiveCosts& costs, int chips, int hops, Bytes size);

/// Returns the profiles of a chip that is reached through another one: transfers go through the
/// tunnel, and completions and the host's answers cross the link. The tunnel's cost for each
/// program is not known and is left out.
Profiles behind_ethernet(Profiles profiles);

}  // namespace howard::wormhole
