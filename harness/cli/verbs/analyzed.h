// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "experiments/logs/log_analysis.h"
#include "harness/result.h"
#include "reports/pictures/picture.h"
#include "reports/tables/table.h"

namespace howard::cli {

using experiments::Analyzed;

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
