// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/outputs/formats.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "harness/tracking/comparison/comparison_tables.h"
#include "harness/tracking/formats/machine_formats.h"
#include "harness/tracking/run.h"
#include "reports/findings/run_summary.h"
#include "reports/formats/csv.h"
#include "reports/formats/google_benchmark.h"
#include "reports/formats/step_summary.h"
#include "reports/tables/latex.h"
#include "reports/tables/markdown.h"

namespace howard::cli {
namespace {

using tracking::Comparison;

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

std::vector<tracking::Run> runs_of(const ShownResults& shown) {
  return {tracking::run_of(shown.results)};
}

std::vector<tracking::Run> runs_of(const Comparison& comparison) {
  return {second_values(comparison)};
}

std::string in_all_tables(const ShownResults& shown, std::string (*text)(const reports::Table&)) {
  std::string all;
  for (const auto* const tables : {&shown.tables, &shown.verdicts}) {
    for (const reports::Table& table : *tables) all += text(table) + "\n";
  }
  return all;
}

std::string summary_of(const ShownResults& shown) {
  return reports::step_summary(
      reports::summary_of_results(shown.results, shown.verdicts, shown.tables));
}

using Style = reports::TerminalStyle;

/// A format that a program reads is made of runs, whether they are results or a side of a
/// comparison.
template <auto text>
std::string of_results(const ShownResults& shown) {
  return text(runs_of(shown));
}
template <auto text>
std::string of_comparison(const Comparison& comparison, const Style&) {
  return text(runs_of(comparison));
}
template <auto text>
constexpr Format of_runs(std::string_view name, std::string_view meaning) {
  return {.name = name,
          .text = meaning,
          .of_results = of_results<text>,
          .of_comparison = of_comparison<text>};
}

template <harness::Better better>
std::string action_benchmark(std::span<const tracking::Run> runs) {
  return tracking::action_benchmark_json(runs, better);
}

std::string markdown_of(const ShownResults& shown) {
  return in_all_tables(shown, [](const reports::Table& table) { return markdown_table(table); });
}
std::string latex_of(const ShownResults& shown) {
  return in_all_tables(shown, [](const reports::Table& table) { return latex_table(table); });
}
std::string csv_of(const ShownResults& shown) { return reports::csv(shown.results); }
std::string google_benchmark_of(const ShownResults& shown) {
  return reports::google_benchmark_json(shown.results);
}
std::string junit_of(const ShownResults& shown) { return tracking::junit_xml(runs_of(shown)); }
std::string github_of(const ShownResults& shown) {
  return summary_of(shown) + tracking::github_annotations(runs_of(shown));
}
std::string compared_markdown(const Comparison& comparison, const Style&) {
  return tracking::github_summary(comparison);
}
std::string compared_junit(const Comparison& comparison, const Style&) {
  return tracking::junit_xml(comparison);
}
std::string compared_github(const Comparison& comparison, const Style& style) {
  return plain_text(comparison, style) + tracking::github_annotations(comparison);
}

constexpr std::array kFormats{
    Format{.name = "text", .text = "tables for a terminal", .of_comparison = plain_text},
    Format{.name = "md",
           .text = "Markdown tables",
           .of_results = markdown_of,
           .of_comparison = compared_markdown},
    Format{.name = "latex", .text = "", .of_results = latex_of},
    Format{.name = "csv", .text = "the points with all their metrics", .of_results = csv_of},
    Format{.name = "google-benchmark",
           .text = "the times as Google Benchmark's JSON, for its compare.py and others",
           .of_results = google_benchmark_of},
    Format{.name = "junit",
           .text = "a test case for each point",
           .of_results = junit_of,
           .of_comparison = compared_junit},
    Format{.name = "github",
           .text = "a step summary, which also goes to $GITHUB_STEP_SUMMARY, and annotations",
           .of_results = github_of,
           .of_comparison = compared_github,
           .has_step_summary = true},
    of_runs<action_benchmark<harness::Better::lower>>(
        "action-benchmark-smaller", "github-action-benchmark's customSmallerIsBetter"),
    of_runs<action_benchmark<harness::Better::higher>>("action-benchmark-bigger",
                                                       "its customBiggerIsBetter"),
    of_runs<tracking::bencher_json>("bencher", "Bencher Metric Format"),
    of_runs<tracking::openmetrics_text>("openmetrics", "")};

/// Returns the formats in which `kind` can be shown; the first one is the default.
std::vector<std::pair<std::string_view, const Format*>> formats_with(auto Format::*kind) {
  std::vector<std::pair<std::string_view, const Format*>> found;
  for (const Format& format : kFormats) {
    if (format.*kind != nullptr) found.emplace_back(format.name, &format);
  }
  return found;
}

/// Returns "text (tables for a terminal), md (Markdown tables) ...".
std::string described_formats(auto Format::*kind) {
  std::vector<std::string> all;
  for (const auto& [name, format] : formats_with(kind)) {
    all.push_back(format->text.empty() ? std::string(name)
                                       : fmt::format("{} ({})", name, format->text));
  }
  return "Chooses what goes to standard output; the first is the default: " + join(all, ", ");
}

/// Puts `text` to the end of the file that GITHUB_STEP_SUMMARY names, which collects the summaries
/// of a whole step; does nothing without that variable. Throws Error if the file takes no text.
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

}  // namespace

Option result_format_option(const Format*& format, const Applies& applies) {
  static const std::string kText = described_formats(&Format::of_results);
  const auto formats = formats_with(&Format::of_results);
  format = formats.front().second;
  Values values = choice(format, formats);
  values.take = [take = values.take](std::string_view option, const std::string& word) {
    if (word == "html") refuse_value(option, word, "pages are made by --page", "--page");
    take(option, word);
  };
  return {"--format", "F", kText, values, applies};
}

void print_results(const ShownResults& shown, const Format& format) {
  fmt::print("{}", format.of_results(shown));
  if (format.has_step_summary) append_step_summary(summary_of(shown));
}

OptionList comparison_options(ComparisonOutputs& outputs) {
  static const std::string kText = described_formats(&Format::of_comparison);
  const auto formats = formats_with(&Format::of_comparison);
  outputs.format = formats.front().second;
  const auto add_file = [&outputs, formats](std::string_view option, const std::string& text) {
    const std::size_t equals = text.find('=');
    const auto format = std::ranges::find(formats, std::string_view(text).substr(0, equals),
                                          &std::pair<std::string_view, const Format*>::first);
    if (equals == std::string::npos || equals + 1 == text.size() || format == formats.end()) {
      refuse_value(option, text, "FORMAT=FILE", "--also junit=junit.xml");
    }
    outputs.files.emplace_back(format->second, text.substr(equals + 1));
  };
  return {{"--format", "F", kText, choice(outputs.format, formats)},
          {"--also",
           "F=FILE",
           "Writes format F to FILE as well; may be repeated",
           {.take = add_file, .words = {}, .repeats = true}}};
}

void write_comparison(const Comparison& comparison, const ComparisonOutputs& outputs,
                      const reports::TerminalStyle& style) {
  fmt::print("{}", outputs.format->of_comparison(comparison, style));
  if (outputs.format->has_step_summary) {
    append_step_summary(tracking::github_summary(comparison));
  }
  for (const auto& [format, file] : outputs.files) {
    write_file(file, format->of_comparison(comparison, {}));
  }
}

}  // namespace howard::cli
