// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.h"

namespace howard::harness {

/// "0.1.0": the project's version.
std::string version();

/// "1a2b3c4d5e6f" or "1a2b3c4d5e6f-dirty", as of the last build; "unknown" outside a git tree.
std::string git_commit();

/// The part of a run's context that the program and the machine decide, with a warning for each
/// thing known to spoil wall-clock results. Threads, profiles and seed are the caller's to fill in.
RunContext describe_environment();

}  // namespace howard::harness
