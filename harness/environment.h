// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/result.h"

namespace howard::harness {

/// Returns the project's version, as "0.1.0".
std::string version();

/// Returns the commit of the last build, "1a2b3c4d5e6f" or "1a2b3c4d5e6f-dirty"; "unknown" outside
/// a git tree.
std::string git_commit();

/// Returns the part of a run's context that the program and the machine decide. If the host was
/// timed, it has a warning for each thing known to spoil wall times; what another run says does not
/// depend on the environment. The caller fills in threads, profiles and seed.
RunContext describe_environment(Backend timed = Backend::emulated);

}  // namespace howard::harness
