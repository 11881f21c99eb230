// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/sim_time.h"
#include "engines/chip/kernels/plan/launch.h"
#include "engines/chip/profiles/profile.h"

namespace howard::calibration {

/// Returns the period of a step of programs that a trace repeats forever on one queue and all
/// cores. It comes from the simulation, once the rings are full.
SimTime steady_period(const std::vector<chip::Launch>& step, const chip::SoftwareProfile& software);

/// Returns the period if the step is a trace of its own that is replayed forever by a fast host.
SimTime replay_period(const std::vector<chip::Launch>& step, const chip::SoftwareProfile& software);

/// Returns the time from the call to the completion of a program that finds an idle chip.
SimTime lone_time(const chip::Launch& launch, const chip::SoftwareProfile& software);

}  // namespace howard::calibration
