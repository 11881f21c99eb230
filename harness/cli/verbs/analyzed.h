// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "experiments/logs/log_content.h"
#include "harness/result.h"
#include "reports/findings/log_advice_report.h"
#include "reports/findings/program_list.h"
#include "reports/pictures/picture.h"
#include "reports/tables/table.h"

namespace howard::cli {

/// Holds a file that `analyze` has read, and what there is to say of it.
struct Analyzed {
  std::string file;  ///< The file's path.
  experiments::LogContent content;
  std::vector<reports::LogAdvice>
      advice;  ///< One for each run of a log; none where it is not wanted.
  std::optional<reports::ProgramFilter> programs{};  ///< The programs that are listed, if any.

  /// Returns the log; null if the file is of another kind.
  const profiler::Log* log() const { return std::get_if<profiler::Log>(&content); }
  /// Returns the file's name, and the run if there are several: "a.csv, run 2 of 3, forward".
  std::string title_of(std::size_t run) const;
};

/// Returns what the terminal shows of a file, `top` rows in each list.
std::vector<reports::Table> tables_of(const Analyzed& file, std::size_t top);

/// Writes all logs as one trace to `to`, each device of each a process.
void write_log_trace(const std::deque<Analyzed>& files, const std::string& to);

/// Draws a log. The names of its pictures begin with the log's name, and the run's number if it has
/// several. Returns false if a picture could not be written.
bool draw_log(const Analyzed& file, const reports::Canvas& canvas);

/// Writes the page of the files to `to`; "-" is standard output. `problems` say what could not be
/// read.
void write_log_page(const std::deque<Analyzed>& files, const std::vector<std::string>& problems,
                    const std::vector<reports::Table>& differences, std::size_t top,
                    const harness::RunContext& context, const std::string& to);

}  // namespace howard::cli
