// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/compare.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/result_folder.h"
#include "harness/cli/verbs/manual.h"
#include "reports/findings/comparison.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

extern const std::string_view kCompareHelp;  // the build compiles compare_help.md in

namespace {

struct CompareOptions {
  std::vector<std::string> files;
  double threshold = 0;
  bool exact = false;
  ColorMode color = ColorMode::automatic;
  bool help = false;
};

CompareOptions compare_options(int argc, const char* const* argv) {
  CLI::App app;
  CompareOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("files", options.files);
  add_number(app, "--threshold", options.threshold, 0, 1e6);
  app.add_flag("--exact", options.exact);
  add_color_option(app, options.color);
  parse_command_line(app, argc, argv);
  if (!options.help && options.files.size() != 2) {
    throw UsageError(
        fmt::format("compare takes two files or folders, not {}; try run_experiment compare "
                    "--help",
                    options.files.size()));
  }
  if (options.exact && options.threshold > 0) {
    throw UsageError("--exact allows no change, --threshold some: give one of them");
  }
  return options;
}

reports::TimeRecord read(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    return reports::time_record(read_result_folder(file));
  }
  return reports::parse_time_record(read_file(file), file);
}

int status_of(const reports::Comparison& found, const CompareOptions& options) {
  const bool slower = std::ranges::any_of(found.moved, [&](const reports::MovedTime& moved) {
    return moved.is_slower(options.threshold);
  });
  if (slower) return kRegression;
  if (!found.missing.empty() || !found.added.empty()) return kOtherPoints;
  return options.exact && !found.moved.empty() ? kStaleBaseline : kOk;
}

}  // namespace

int compare(int argc, const char* const* argv) {
  const CompareOptions options = compare_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kCompareHelp));
    return kOk;
  }
  const reports::TimeRecord before = read(options.files[0]);
  const reports::Comparison found = reports::compare(before, read(options.files[1]));
  for (const std::string& warning : found.warnings) {
    fmt::print(stderr, "run_experiment: warning: {}\n", warning);
  }
  const reports::TerminalStyle style = terminal_style(STDOUT_FILENO, options.color);
  for (const reports::Table& table : reports::comparison_tables(found)) {
    fmt::print("{}\n", reports::terminal_table(table, style));
  }
  const auto slower = std::ranges::count_if(
      found.moved, [](const reports::MovedTime& moved) { return moved.is_slower(0); });
  fmt::print("{} virtual times: {} unchanged, {} slower, {} faster; {} missing, {} new\n",
             found.unchanged + found.moved.size(), found.unchanged, slower,
             static_cast<std::ptrdiff_t>(found.moved.size()) - slower, found.missing.size(),
             found.added.size());
  return status_of(found, options);
}

}  // namespace howard::cli
