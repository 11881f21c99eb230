// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "harness/cli/command/given.h"
#include "harness/cli/command/shared_options.h"
#include "harness/measurement.h"
#include "harness/runner.h"

namespace howard::cli {

/// Holds what the command line of a run of experiments asks for.
struct RunOptions {
  std::vector<std::string> names;  ///< The experiments; never empty. The caller expands "all".
  harness::PlanOptions plan;
  harness::WallOptions wall;
  bool dry_run = false;
  std::uint64_t seed = 1;
  int threads = 0;      ///< 0 stands for all threads that the process may use.
  bool binding = true;  ///< Host threads stay on cores of their own where that is possible.
  chip::ProfileChoice profiles;
  OutputPlaces outputs;
  bool bottlenecks = false;
  std::optional<std::string> page;  ///< Where a page goes; "": to index.html beside the results.
  bool progress = true;
  bool uses_host = true;  ///< False once it is known that no point runs on the host.

  /// Returns whether one more iteration of each point is recorded.
  bool records() const {
    return !outputs.trace.empty() || !outputs.device_logs.empty() || bottlenecks;
  }

  /// The command line, whose options must be used; null if there is none.
  const Given* given = nullptr;

  // These are the words of options that complete() understands.
  std::vector<std::string> axes;
  std::string backends;
  int repetitions = 0;  ///< 0: not given.
  double min_time = 0;  ///< 0: not given.
};

/// Returns the options of a run.
OptionList run_options(RunOptions& options);

/// Understands what the options say. Throws UsageError for a bad command line.
void complete(RunOptions& options);

}  // namespace howard::cli
