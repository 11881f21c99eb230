// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/outputs/formats.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "harness/tracking/comparison/comparison_tables.h"
#include "harness/tracking/formats/json_lines.h"
#include "harness/tracking/formats/machine_formats.h"
#include "harness/tracking/run.h"
#include "reports/findings/run_summary.h"
#include "reports/formats/csv.h"
#include "reports/formats/google_benchmark.h"
#include "reports/formats/result_json.h"
#include "reports/formats/step_summary.h"
#include "reports/formats/time_record.h"
#include "reports/page/log_page.h"
#include "reports/tables/latex.h"
#include "reports/tables/markdown.h"
#include "reports/tables/table_csv.h"

namespace howard::cli {
namespace {

using tracking::Comparison;
using Style = reports::TerminalStyle;

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

/// Returns what a program reads as a run: results, or a side of a comparison.
std::vector<tracking::Run> runs_of(const Shown& shown) {
  if (shown.comparison != nullptr) return {second_values(*shown.comparison)};
  return {tracking::run_of(shown.results)};
}

/// Hands over all tables, each as `text` makes it, with `between` them.
template <class Text>
void write_tables(const Shown& shown, const TextSink& sink, std::string_view between, Text text) {
  bool is_first = true;
  for (const auto* const tables : {&shown.tables, &shown.verdicts}) {
    for (const reports::Table& table : *tables) {
      if (!std::exchange(is_first, false)) sink(between);
      sink(text(table));
    }
  }
}

std::string summary_of(const Shown& shown) {
  if (shown.comparison != nullptr) return tracking::github_summary(*shown.comparison);
  return reports::step_summary(
      reports::summary_of_results(shown.results, shown.verdicts, shown.tables));
}

void write_text(const Shown& shown, const Style& style, const TextSink& sink) {
  write_tables(shown, sink, "\n", [&](const auto& table) { return terminal_table(table, style); });
  if (shown.comparison == nullptr) return;
  sink("\n");
  for (const std::string& line : tracking::comparison_lines(*shown.comparison)) sink(line + "\n");
}

/// Writes tables as they are shown, for commands that have no results: every cell is a text.
void write_tables_json(const Shown& shown, const TextSink& sink) {
  nlohmann::ordered_json tables = nlohmann::ordered_json::array();
  for (const reports::Table& table : shown.tables) {
    nlohmann::ordered_json columns = nlohmann::ordered_json::array();
    for (const auto& column : table.columns) {
      columns.push_back({{"title", column.title}, {"unit", column.unit}});
    }
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const reports::TableRow& row : table.rows) {
      nlohmann::ordered_json cells = nlohmann::ordered_json::array();
      for (const reports::Cell& cell : row.cells) cells.push_back(cell.text);
      rows.push_back(std::move(cells));
    }
    tables.push_back({{"caption", table.caption},
                      {"columns", std::move(columns)},
                      {"rows", std::move(rows)},
                      {"notes", table.notes}});
  }
  const nlohmann::ordered_json document{{"schema", "howard.tables/1"},
                                        {"tables", std::move(tables)}};
  sink(json_dump(document, 2) + "\n");
}

void write_json(const Shown& shown, const Style&, const TextSink& sink) {
  if (shown.json) return sink(shown.json());
  if (shown.results.empty()) return write_tables_json(shown, sink);
  reports::write_result_json(shown.results, sink);
}

void write_csv(const Shown& shown, const Style&, const TextSink& sink) {
  if (!shown.results.empty()) return reports::write_csv(shown.results, sink);
  write_tables(shown, sink, "\n", reports::table_csv);
}

void write_markdown(const Shown& shown, const Style&, const TextSink& sink) {
  if (shown.comparison != nullptr) return sink(tracking::github_summary(*shown.comparison));
  write_tables(shown, sink, "\n", reports::markdown_table);
}

void write_latex(const Shown& shown, const Style&, const TextSink& sink) {
  write_tables(shown, sink, "\n", reports::latex_table);
}

/// A page of tables, for commands that have none of their own.
void write_page(const Shown& shown, const Style&, const TextSink& sink) {
  std::vector<reports::Table> tables = shown.tables;
  tables.insert(tables.end(), shown.verdicts.begin(), shown.verdicts.end());
  reports::LogPage page;
  page.logs.push_back({.title = "tables", .tables = std::move(tables)});
  sink(reports::html_log_page(page));
}

void write_lines(const Shown& shown, const Style&, const TextSink& sink) {
  if (shown.lines) return shown.lines(sink);
  for (const tracking::Run& run : runs_of(shown)) sink(tracking::run_line(run) + "\n");
}

void write_times(const Shown& shown, const Style&, const TextSink& sink) {
  sink(reports::times_text(reports::time_record(shown.results)));
}

void write_google_benchmark(const Shown& shown, const Style&, const TextSink& sink) {
  sink(reports::google_benchmark_json(shown.results));
}

void write_junit(const Shown& shown, const Style&, const TextSink& sink) {
  sink(shown.comparison != nullptr ? tracking::junit_xml(*shown.comparison)
                                   : tracking::junit_xml(runs_of(shown)));
}

void write_github(const Shown& shown, const Style& style, const TextSink& sink) {
  if (shown.comparison != nullptr) {
    write_text(shown, style, sink);
    return sink(tracking::github_annotations(*shown.comparison));
  }
  sink(summary_of(shown) + tracking::github_annotations(runs_of(shown)));
}

/// A format that a program reads is made of runs.
template <auto text>
void write_runs(const Shown& shown, const Style&, const TextSink& sink) {
  sink(text(runs_of(shown)));
}
template <harness::Better better>
std::string action_benchmark(std::span<const tracking::Run> runs) {
  return tracking::action_benchmark_json(runs, better);
}

void write_python(const Shown& shown, const Style&, const TextSink& sink) { sink(shown.python()); }
void write_mlir(const Shown& shown, const Style&, const TextSink& sink) { sink(shown.mlir()); }

bool always(const Offers&) { return true; }
bool has_results(const Offers& offers) { return offers.results; }
bool has_lines(const Offers& offers) { return offers.results || offers.lines; }
bool has_runs(const Offers& offers) { return offers.results || offers.comparison; }
bool has_pictures(const Offers& offers) { return offers.pictures; }
bool has_configurations(const Offers& offers) { return offers.configurations; }
bool has_trace(const Offers& offers) { return offers.trace; }

constexpr Form of_runs(std::string_view name, std::string_view text,
                       void (*write)(const Shown&, const Style&, const TextSink&)) {
  return {.name = name, .endings = "", .text = text, .offered = has_runs, .write = write};
}
constexpr Form picture(std::string_view name, std::string_view ending) {
  return {.name = name,
          .endings = ending,
          .text = "",
          .offered = has_pictures,
          .write = nullptr,
          .is_picture = true};
}

constexpr std::array kForms{
    Form{"text", ".txt", "tables as a terminal shows them", always, write_text},
    Form{"json", ".json", "", always, write_json},
    Form{"csv", ".csv", "the points with all their metrics, or the tables", always, write_csv},
    Form{"md", ".md", "Markdown tables", always, write_markdown},
    Form{"latex", ".tex", "", always, write_latex},
    Form{"html", ".html", "one page", always, write_page},
    picture("svg", ".svg"),
    picture("png", ".png"),
    picture("pdf", ".pdf"),
    Form{"python", ".py", "the configurations as a module for ttnn", has_configurations,
         write_python},
    Form{"mlir", ".mlir", "the configurations as attributes of tt-mlir", has_configurations,
         write_mlir},
    Form{"jsonl", ".jsonl", "a run a line, for track", has_lines, write_lines},
    Form{"pftrace", ".pftrace", "a timeline, for ui.perfetto.dev", has_trace, nullptr},
    Form{"times", "", "every virtual time to the picosecond, for compare", has_results,
         write_times},
    Form{"google-benchmark", "", "the times, for its compare.py and others", has_results,
         write_google_benchmark},
    Form{"junit", ".xml", "a test case for each point", has_runs, write_junit},
    Form{.name = "github",
         .endings = "",
         .text = "a step summary, which also goes to $GITHUB_STEP_SUMMARY, and annotations",
         .offered = has_runs,
         .write = write_github,
         .has_step_summary = true},
    of_runs("action-benchmark-smaller", "github-action-benchmark's customSmallerIsBetter",
            write_runs<action_benchmark<harness::Better::lower>>),
    of_runs("action-benchmark-bigger", "its customBiggerIsBetter",
            write_runs<action_benchmark<harness::Better::higher>>),
    of_runs("bencher", "Bencher Metric Format", write_runs<tracking::bencher_json>),
    of_runs("openmetrics", "", write_runs<tracking::openmetrics_text>)};

}  // namespace

std::vector<const Form*> forms_of(const Offers& offers) {
  std::vector<const Form*> forms;
  for (const Form& form : kForms) {
    if (form.offered(offers)) forms.push_back(&form);
  }
  return forms;
}

const Form* form_named(std::string_view name, const Offers& offers) {
  const std::vector<const Form*> forms = forms_of(offers);
  const auto found = std::ranges::find(forms, name, &Form::name);
  return found == forms.end() ? nullptr : *found;
}

const Form* form_of_file(std::string_view file, const Offers& offers) {
  for (const Form* const form : forms_of(offers)) {
    if (!form->endings.empty() && lower_case(file).ends_with(form->endings)) return form;
  }
  return nullptr;
}

void append_step_summary(const Shown& shown) {
  const char* const file = std::getenv("GITHUB_STEP_SUMMARY");
  if (file == nullptr || *file == '\0') return;
  const std::string text = summary_of(shown);
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

}  // namespace howard::cli
