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

/// Returns the tables of a file, `top` rows in each list.
std::vector<reports::Table> tables_of(const Analyzed& file, std::size_t top);

/// Returns the tables of a file that fit two screens: where the time went and, at the end, the
/// answer. `more` says how to see the others.
std::vector<reports::Table> brief_tables_of(const Analyzed& file,
                                            const std::vector<std::string>& more);

/// Writes all logs as one trace to `to`, each device of each a process.
void write_log_trace(const std::deque<Analyzed>& files, const std::string& to);

/// Draws a log. The names of its pictures begin with the log's name, and the run's number if it has
/// several.
reports::PlotFiles draw_log(const Analyzed& file, const reports::Canvas& canvas);
/// Says what was drawn. Returns false if a picture could not be written.
bool say_drawn(const reports::PlotFiles& files, const std::filesystem::path& folder);

/// Writes the page of the files to `to`; "-" is standard output. `problems` say what could not be
/// read.
void write_log_page(const std::deque<Analyzed>& files, const std::vector<std::string>& problems,
                    const std::vector<reports::Table>& differences, std::size_t top,
                    const harness::RunContext& context, const std::string& to);

}  // namespace howard::cli
