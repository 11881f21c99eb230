// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/tracking/comparison/comparison.h"
#include "reports/tables/terminal_table.h"

namespace CLI {
class App;
}

namespace howard::cli {

enum class ComparisonFormat : std::uint8_t {
  text,      ///< Tables for a terminal.
  markdown,  ///< A GitHub step summary.
  github,    ///< Tables, then annotations; the summary goes to $GITHUB_STEP_SUMMARY.
  junit,
  action_smaller,  ///< github-action-benchmark's customSmallerIsBetter,
  action_bigger,   ///< and customBiggerIsBetter.
  bencher,
  openmetrics,
};

/// Says where a comparison goes: one format to standard output, others to files.
struct ComparisonOutputs {
  ComparisonFormat format = ComparisonFormat::text;
  std::vector<std::pair<ComparisonFormat, std::string>> files;
};

/// Declares --format F and --also F=FILE.
void add_comparison_outputs(CLI::App& app, ComparisonOutputs& outputs);

/// Puts `text` to the end of the file that GITHUB_STEP_SUMMARY names, which collects the summaries
/// of a whole step; does nothing without that variable. Throws Error if the file takes no text.
void append_step_summary(const std::string& text);

/// Writes a comparison where `outputs` says. Throws Error for a file that cannot be written.
void write_comparison(const tracking::Comparison& comparison, const ComparisonOutputs& outputs,
                      const reports::TerminalStyle& style);

}  // namespace howard::cli
