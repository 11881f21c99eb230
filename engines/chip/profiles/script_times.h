// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sim_time.h"
#include "engines/chip/profiles/profile.h"

namespace howard::chip {

/// The times of what the host of a user's script does besides the work of its calls in C++.
struct ScriptTimes {
  SimTime ttnn_call;     ///< host.ttnn_call: the call of an op through ttnn's own Python layer.
  SimTime program_miss;  ///< host.program_miss: a program's first call if its kernels are on disk.
  SimTime kernel_compile;  ///< host.kernel_compile: a program's first call that compiles them.
};

/// Reads the times. Throws Error for constants that are not times.
ScriptTimes script_times(const ProfileConstants& constants);

}  // namespace howard::chip
