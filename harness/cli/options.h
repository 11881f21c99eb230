// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engines/wormhole/profiles/profile.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/measurement.h"
#include "harness/runner.h"
#include "reports/pictures/picture.h"

namespace howard::cli {

/// What the command line asks for; the manual is help.md.
struct Options {
  bool help = false;     ///< Of `names`, and nothing is run.
  bool version = false;  ///< Nothing is run.

  std::vector<std::string> names;  ///< Experiments, "all" expanded by the caller; never empty.
  harness::PlanOptions plan;
  harness::WallOptions wall;
  bool dry_run = false;
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all the process may use.
  wormhole::ProfileChoice profiles;

  // Outputs: "" is the default place under `results`, "-" standard output.
  std::filesystem::path results = "results";
  std::string json, csv, markdown, times, plots, trace;
  std::filesystem::path device_logs;  ///< Folder; empty: none.
  std::filesystem::path memory;       ///< Folder; empty: none.
  reports::Canvas canvas;             ///< Of all pictures; its folder is not used.
  bool bottlenecks = false;
  bool page = false;  ///< index.html beside the results.

  /// Whether one more iteration of points is recorded.
  bool records() const { return records_all() || page; }
  /// Whether of every point; the page shows the first one of an experiment.
  bool records_all() const { return !trace.empty() || !device_logs.empty() || bottlenecks; }

  ColorMode color = ColorMode::automatic;
  bool progress = true;
  bool all_rows = false;  ///< Of tables, however many.
};

/// "howard 0.4.0 (commit, compiler, build type)", a line.
std::string version_text();

/// UsageError for two texts in one stream, which no program can read, or in one file, where one is
/// lost.
void require_one_text_in_each_place(const Options& options);

/// Error types: UsageError for what the command line says, with a suggestion for a mistyped option.
Options parse_options(int argc, const char* const* argv);

}  // namespace howard::cli
