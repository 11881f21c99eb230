// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace howard::tracking {

/// Says whether the user wants to stop.
using Stop = std::function<bool()>;

/// Holds what a process has written, and how it ended.
struct CommandOutcome {
  int status = 0;  ///< The status as waitpid() gives it.
  std::string out, err;
  double seconds = 0;  ///< The time from its start to its end.
};

/// Runs a line of the shell in `folder` (empty: ours) in a process of its own and waits for its
/// end. Throws Error if it takes longer than `limit` seconds, if it prints, and writes to the file
/// `results`, more than 256 MiB, or if `stop` turned true; then it is ended.
CommandOutcome run_command(const std::string& line, double limit, const Stop& stop,
                           const std::filesystem::path& folder = {},
                           const std::filesystem::path& results = {});

/// Runs a program with arguments, of which no shell reads any, for up to a minute.
CommandOutcome run_program(const std::vector<std::string>& words,
                           const std::filesystem::path& folder = {});

/// Returns the last line that is not empty, at most 200 bytes of it.
std::string last_line(std::string_view text);

}  // namespace howard::tracking
