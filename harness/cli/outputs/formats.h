// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cli/command/option.h"
#include "harness/result.h"
#include "harness/tracking/comparison/comparison.h"
#include "reports/tables/table.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

/// Holds results, and the tables that show them.
struct ShownResults {
  std::span<const harness::ExperimentResult> results;
  std::vector<reports::Table> tables;    ///< What each experiment shows of itself.
  std::vector<reports::Table> verdicts;  ///< How far they are from the published figures.
};

/// Declares a format in which `report` prints results, `compare` prints a comparison, or both.
struct Format {
  std::string_view name;
  std::string_view text;  ///< What it is, for help; empty where the name says it.
  std::string (*of_results)(const ShownResults& shown) = nullptr;  ///< Null: not a format of those.
  std::string (*of_comparison)(const tracking::Comparison& comparison,
                               const reports::TerminalStyle& style) = nullptr;
  /// The summary goes to the file that GITHUB_STEP_SUMMARY names, too.
  bool has_step_summary = false;
};

/// --format of `report`. `format` is the first one of results before.
Option result_format_option(const Format*& format, const Applies& applies);

/// Prints results. Throws Error if the step summary cannot be written.
void print_results(const ShownResults& shown, const Format& format);

/// Says where a comparison goes: one format to standard output, others to files.
struct ComparisonOutputs {
  const Format* format = nullptr;  ///< Null: text.
  std::vector<std::pair<const Format*, std::string>> files;
};

/// --format F and --also F=FILE of `compare`.
OptionList comparison_options(ComparisonOutputs& outputs);

/// Writes a comparison where `outputs` says. Throws Error for a file that cannot be written.
void write_comparison(const tracking::Comparison& comparison, const ComparisonOutputs& outputs,
                      const reports::TerminalStyle& style);

}  // namespace howard::cli
