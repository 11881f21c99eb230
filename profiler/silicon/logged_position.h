// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sim_time.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::profiler {

// Decode attention sees the places of a cache up to a position. In most logs the position is a
// tensor, whose numbers no log has. The time of a run then tells how many places it saw, so that
// the emulator can say what something else would change; of the emulator's error it tells nothing.

/// Says whether a program of a log sees places up to a position that the log does not tell.
bool lacks_position(const Program& program);

/// Lets such a program see the places by which its kernel takes as long as `measured`, or as nearly
/// as its cache allows, and returns their number. Throws Error when it cannot be planned.
std::int64_t take_position(Program& program, SimTime measured, CoreGrid grid,
                           const chip::Profiles& profiles);

}  // namespace howard::profiler
