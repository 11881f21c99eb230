// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "engines/chip/profiles/profile.h"
#include "harness/cli/terminal/terminal.h"

namespace howard::cli {

/// Holds what is to be summed up.
struct ScriptRun {
  std::filesystem::path workload;  ///< What the script left behind.
  bool is_kept = true;             ///< It stays there.
  std::filesystem::path script;
  chip::ProfileChoice profiles;
  bool has_failed = false;     ///< It ended with an error, which is to stay in sight.
  bool tries_changes = true;   ///< What-ifs are run, which takes as often as long.
  bool virtual_clock = false;  ///< The script's clock was the virtual one.
  bool as_the_report = false;  ///< Calls cost what they cost in the report's Python engine.
  ColorMode color = ColorMode::automatic;
};

/// Says on standard error what the script's virtual time went into, and what would help. What
/// cannot be said is left out with the reason; it never throws for a program that fails.
void print_script_summary(const ScriptRun& run);

}  // namespace howard::cli
