// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

// This is about several chips that are wired to each other by ethernet. A single chip is an
// EmulatedChip. The kernels of collectives are in kernels/collective.

/// Returns the time in which `chips` chips sum a buffer of `size` so that each has the sum: a
/// reduce_scatter and an all_gather, which the dispatcher starts when the former is done. They
/// stand on a line with `hops` links. For one chip it is zero.
SimTime all_reduce_time(const Profiles& profiles, int chips, int hops, Bytes size);

/// Returns the time in which a chip sends a buffer of `size` to its neighbour.
SimTime send_time(const Profiles& profiles, Bytes size);

/// Returns the time in which a buffer of `size` gets from a chip to that of another host, as a
/// tensor does by TTML's socket `mpi`: the sender reads it and sends it, and the receiver, which
/// reads what it had there before, writes it.
SimTime message_time(const Profiles& profiles, Bytes size);

/// Returns the profiles of one of `chips` chips that a host drives as a mesh: it writes an op's
/// program to one chip after the other. All run it at the same time.
Profiles of_mesh(Profiles profiles, int chips);

/// Returns the profiles of a chip that is reached through another one: transfers go through the
/// tunnel, and completions and the host's answers cross the link. The tunnel's cost for each
/// program is not known and is left out.
Profiles behind_ethernet(Profiles profiles);

}  // namespace howard::chip
