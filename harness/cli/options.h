// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/measurement.h"
#include "harness/runner.h"
#include "reports/pictures/picture.h"

namespace howard::cli {

/// Holds what the command line asks for. The manual is help.md.
struct Options {
  bool help = false;     ///< Shows the help of `names`; nothing is run.
  bool version = false;  ///< Shows the version; nothing is run.

  std::vector<std::string> names;  ///< The experiments; never empty. The caller expands "all".
  std::vector<std::string> given;  ///< The options of the command line, by their long names.
  harness::PlanOptions plan;
  harness::WallOptions wall;
  bool dry_run = false;
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0 stands for all threads that the process may use.
  /// True if the host multiplies in the ways that are fastest on this machine (ProductTuning).
  bool tuning = true;
  bool binding = true;  ///< Host threads stay on cores of their own where that is possible.
  chip::ProfileChoice profiles;

  // For each output, "" is the default place under `results` and "-" is standard output.
  std::filesystem::path results = "results";
  std::string json, csv, markdown, times, plots, trace;
  std::filesystem::path device_logs;  ///< A folder; empty if none is wanted.
  std::filesystem::path memory;       ///< A folder; empty if none is wanted.
  reports::Canvas canvas;             ///< The settings of all pictures; its folder is not used.
  bool bottlenecks = false;
  bool page = false;  ///< True if index.html is written beside the results.

  /// Returns whether one more iteration of each point is recorded.
  bool records() const { return !trace.empty() || !device_logs.empty() || bottlenecks; }

  ColorMode color = ColorMode::automatic;
  bool progress = true;
  bool all_rows = false;  ///< Shows all rows of a table, however many they are.
};

/// Returns "howard 0.4.0 (commit, compiler, build type)" as a line.
std::string version_text();

/// Throws UsageError if two texts go to one stream, where no program could read them, or to one
/// file, where one would be lost.
void require_one_text_in_each_place(const Options& options);

/// Parses the command line. Throws UsageError for a bad one, with a suggestion for a mistyped
/// option.
Options parse_options(int argc, const char* const* argv);

}  // namespace howard::cli
