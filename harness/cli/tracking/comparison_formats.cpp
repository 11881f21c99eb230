// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/tracking/comparison_formats.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "harness/cli/command_line.h"
#include "harness/tracking/comparison/comparison_tables.h"
#include "harness/tracking/formats/machine_formats.h"
#include "harness/tracking/run.h"

namespace howard::cli {
namespace {

using tracking::Comparison;

const std::map<std::string, ComparisonFormat>& all_formats() {
  static const std::map<std::string, ComparisonFormat> formats{
      {"text", ComparisonFormat::text},
      {"md", ComparisonFormat::markdown},
      {"github", ComparisonFormat::github},
      {"junit", ComparisonFormat::junit},
      {"action-benchmark-smaller", ComparisonFormat::action_smaller},
      {"action-benchmark-bigger", ComparisonFormat::action_bigger},
      {"bencher", ComparisonFormat::bencher},
      {"openmetrics", ComparisonFormat::openmetrics}};
  return formats;
}

/// Returns the values of the second side as a run.
tracking::Run second_values(const Comparison& comparison) {
  tracking::Run run;
  for (const tracking::JudgedRow& row : comparison.rows) {
    const bool has_value =
        row.verdict != tracking::Verdict::missing && row.verdict != tracking::Verdict::failed;
    if (!has_value) continue;
    run.rows.push_back({.series = row.series, .value = row.after, .picoseconds = row.after_ps});
  }
  return run;
}

std::string plain_text(const Comparison& comparison, const reports::TerminalStyle& style) {
  std::string text;
  for (const reports::Table& table : tracking::comparison_tables(comparison)) {
    text += reports::terminal_table(table, style) + "\n";
  }
  for (const std::string& line : tracking::comparison_lines(comparison)) text += line + "\n";
  return text;
}

std::string text_of(const Comparison& comparison, ComparisonFormat format,
                    const reports::TerminalStyle& style) {
  const auto values = [&] { return std::vector{second_values(comparison)}; };
  switch (format) {
    case ComparisonFormat::text:
      return plain_text(comparison, style);
    case ComparisonFormat::markdown:
      return tracking::github_summary(comparison);
    case ComparisonFormat::github:
      return plain_text(comparison, style) + tracking::github_annotations(comparison);
    case ComparisonFormat::junit:
      return tracking::junit_xml(comparison);
    case ComparisonFormat::action_smaller:
      return tracking::action_benchmark_json(values(), harness::Better::lower);
    case ComparisonFormat::action_bigger:
      return tracking::action_benchmark_json(values(), harness::Better::higher);
    case ComparisonFormat::bencher:
      return tracking::bencher_json(values());
    case ComparisonFormat::openmetrics:
      return tracking::openmetrics_text(values());
  }
  return "";
}

}  // namespace

void add_comparison_outputs(CLI::App& app, ComparisonOutputs& outputs) {
  add_choice(app, "--format", outputs.format, all_formats());
  app.add_option_function<std::vector<std::string>>(
         "--also",
         [&outputs](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const std::size_t equals = text.find('=');
             const auto format = all_formats().find(text.substr(0, equals));
             if (equals == std::string::npos || equals + 1 == text.size() ||
                 format == all_formats().end()) {
               refuse_value("--also", text, "FORMAT=FILE", "--also junit=junit.xml");
             }
             outputs.files.emplace_back(format->second, text.substr(equals + 1));
           }
         })
      ->type_size(1)
      ->allow_extra_args(false);
}

void append_step_summary(const std::string& text) {
  const char* const file = std::getenv("GITHUB_STEP_SUMMARY");
  if (file == nullptr || *file == '\0') return;
  const int descriptor = ::open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  const bool written = descriptor >= 0 && ::write(descriptor, text.data(), text.size()) ==
                                              static_cast<ssize_t>(text.size());
  if (descriptor >= 0) ::close(descriptor);
  if (written) return;
  throw Error({.attempted = "write the step summary",
               .value = std::string(file) + ", which GITHUB_STEP_SUMMARY names, takes no text",
               .accepted = "a file that can be written",
               .hint = "--format md"});
}

void write_comparison(const Comparison& comparison, const ComparisonOutputs& outputs,
                      const reports::TerminalStyle& style) {
  fmt::print("{}", text_of(comparison, outputs.format, style));
  if (outputs.format == ComparisonFormat::github) {
    append_step_summary(tracking::github_summary(comparison));
  }
  for (const auto& [format, file] : outputs.files) {
    write_file(file, text_of(comparison, format, {}));
  }
}

}  // namespace howard::cli
