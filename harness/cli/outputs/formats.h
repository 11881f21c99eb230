// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "harness/result.h"
#include "harness/tracking/comparison/comparison.h"
#include "reports/pictures/picture.h"
#include "reports/tables/table.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

/// Holds what a command has found. A form is made of what it needs of this; what a command does not
/// have stays empty.
struct Shown {
  std::span<const harness::ExperimentResult> results = {};
  std::vector<reports::Table> tables = {};
  std::vector<reports::Table> verdicts = {};  ///< How far results are from the published figures.
  const tracking::Comparison* comparison = nullptr;
  std::function<std::string()> json = {};               ///< JSON of a schema of its own.
  std::function<void(const TextSink&)> lines = {};      ///< JSON lines of its own.
  std::function<std::string()> python = {}, mlir = {};  ///< Configurations.
  std::function<reports::PlotFiles(const reports::Canvas&)> draw = {};
};

/// Says what a command has for the forms. Tables are what every command has.
struct Offers {
  bool results = true;      ///< howard.result: JSON, CSV of all metrics, formats of other programs.
  bool comparison = false;  ///< A comparison; it has the formats of other programs too.
  bool lines = false;       ///< JSON lines without results.
  bool pictures = false;
  bool page = false;            ///< A page of its own; without it, a page is made of the tables.
  bool trace = false;           ///< A timeline.
  bool configurations = false;  ///< Those of calls, for ttnn and tt-mlir.
};

/// Declares a form in which findings are written.
struct Form {
  std::string_view name;     ///< "csv", for --format.
  std::string_view endings;  ///< ".csv": a file with such a name has this form; empty: none.
  std::string_view text;     ///< What it is, for help; empty where the name says it.
  bool (*offered)(const Offers& offers);
  /// Null if the command itself writes it: a page, a timeline. Pictures are drawn.
  void (*write)(const Shown& shown, const reports::TerminalStyle& style, const TextSink& sink);
  bool is_picture = false;
  /// The summary goes to the file that GITHUB_STEP_SUMMARY names, too.
  bool has_step_summary = false;
};

/// Returns the form of a name, or of a file's ending; null if there is none among the offered.
const Form* form_named(std::string_view name, const Offers& offers);
const Form* form_of_file(std::string_view file, const Offers& offers);

/// Returns all that are offered, the one of the terminal first.
std::vector<const Form*> forms_of(const Offers& offers);

/// Appends the summary of what is shown to the file that GITHUB_STEP_SUMMARY names, if it names
/// one. Throws Error if that takes no text.
void append_step_summary(const Shown& shown);

}  // namespace howard::cli
