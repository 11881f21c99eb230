// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/sim_time.h"
#include "engines/wormhole/dispatch/launch.h"
#include "engines/wormhole/profiles/profile.h"

namespace howard::calibration {

/// Simulates a step of programs that is replayed for ever on one queue and all cores with a fast
/// host. Returns the period of the step once the rings are full.
SimTime steady_period(std::vector<wormhole::Launch> step,
                      const wormhole::SoftwareProfile& software);

/// Returns the time from the call to the completion of a program that finds an idle chip.
SimTime lone_time(const wormhole::Launch& launch, const wormhole::SoftwareProfile& software);

}  // namespace howard::calibration
