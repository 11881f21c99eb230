// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/tracking/compare.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/given_options.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/status_line.h"
#include "harness/cli/tracking/baseline.h"
#include "harness/cli/tracking/comparison_formats.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/tracking/comparison/comparison.h"
#include "harness/tracking/comparison/pairs.h"

namespace howard::cli {

extern const std::string_view kCompareHelp;  // the build compiles compare_help.md in

namespace {

using tracking::Comparison;
using tracking::Side;
using tracking::Verdict;

struct CompareOptions {
  std::vector<std::string> sides;
  std::string database, base = "main";
  std::string exec_a, exec_b;
  tracking::CommandOptions command;
  tracking::PairOptions pairs;
  tracking::Limits limits;
  bool strict = false;
  bool anyway = false;
  ComparisonOutputs outputs;
  ColorMode color = ColorMode::automatic;
  bool help = false;

  bool runs() const { return !exec_a.empty() || !exec_b.empty(); }
};

void require_complete(const CompareOptions& options, const std::vector<std::string>& given) {
  if (options.runs()) {
    if (options.exec_a.empty() || options.exec_b.empty()) {
      throw UsageError("--exec-a and --exec-b belong together: the old command and the new one");
    }
    if (!options.sides.empty() || !options.database.empty()) {
      throw UsageError("--exec-a and --exec-b are run; they take no files and no --db besides");
    }
    return;
  }
  require_use(given, {"whole", "pairs", "limit", "seed"}, false, "--exec-a and --exec-b");
  const std::size_t least = options.database.empty() ? 2 : 1;
  if (options.sides.size() < least || options.sides.size() > 2) {
    throw UsageError(fmt::format(
        "compare takes two files, folders or commits, not {}; try run_experiment compare "
        "--help",
        options.sides.size()));
  }
}

CompareOptions compare_options(int argc, const char* const* argv) {
  CLI::App app;
  CompareOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("sides", options.sides);
  app.add_option("--db", options.database);
  app.add_option("--base", options.base);
  app.add_option("--exec-a", options.exec_a);
  app.add_option("--exec-b", options.exec_b);
  app.add_flag("--whole", options.command.whole);
  add_whole(app, "--pairs", options.pairs.pairs, 1, 10'000);
  add_number(app, "--limit", options.command.limit, 0.001, 1e6);
  add_whole(app, "--seed", options.pairs.seed, 0, ~std::uint64_t{0});
  add_number(app, "--threshold", options.limits.threshold, 0, 1e6);
  add_number(app, "--floor", options.limits.relative_floor, 0, 1e6);
  add_number(app, "--floor-seconds", options.limits.absolute_floor, 0, 1e6);
  add_number(app, "--alpha", options.limits.alpha, 1e-6, 0.5);
  add_number(app, "--detect", options.limits.detect, 0.001, 1e3);
  app.add_flag("--strict", options.strict);
  app.add_flag("--anyway", options.anyway);
  add_comparison_outputs(app, options.outputs);
  add_color_option(app, options.color);
  parse_command_line(app, argc, argv);
  if (!options.help) require_complete(options, given_options(app));
  return options;
}

Comparison compare_stored(const CompareOptions& options) {
  const tracking::GitCheckout git;
  std::optional<tracking::History> history;
  if (!options.database.empty()) history.emplace(options.database);
  const tracking::History* const stored = history ? &*history : nullptr;
  const Side after = side_of(options.sides.back(), stored, git);
  return compare_with_baseline(after,
                               {.name = options.sides.size() == 2 ? options.sides.front() : "",
                                .base = options.base,
                                .anyway = options.anyway,
                                .limits = options.limits},
                               stored, git);
}

Comparison compare_commands(CompareOptions& options) {
  catch_signals();
  options.command.stop = interrupted;
  options.pairs.anyway = options.anyway;
  StatusLine line(true);
  options.pairs.progress = [&](const std::string& text) { line.show("compare: " + text); };
  return tracking::compare_pairs(
      options.exec_a, tracking::command_source(options.exec_a, options.command), options.exec_b,
      tracking::command_source(options.exec_b, options.command), options.limits, options.pairs);
}

}  // namespace

int status_of(const Comparison& comparison, bool strict) {
  const auto has = [&](Verdict verdict) { return comparison.count(verdict) > 0; };
  if (has(Verdict::failed)) return kFailed;
  if (has(Verdict::slower)) return kRegression;
  if (has(Verdict::missing) || has(Verdict::added)) return kOtherPoints;
  if (!strict) return kOk;
  if (has(Verdict::faster) || has(Verdict::stale)) return kStaleBaseline;
  return has(Verdict::ambiguous) || comparison.moved_together ? kAmbiguous : kOk;
}

int compare(int argc, const char* const* argv) {
  CompareOptions options = compare_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kCompareHelp));
    return kOk;
  }
  try {
    const Comparison comparison =
        options.runs() ? compare_commands(options) : compare_stored(options);
    for (const std::string& warning : comparison.warnings) {
      fmt::print(stderr, "{}: warning: {}\n", program_name(), warning);
    }
    write_comparison(comparison, options.outputs, terminal_style(STDOUT_FILENO, options.color));
    return status_of(comparison, options.strict);
  } catch (const Error&) {
    if (options.runs() && interrupted()) return kInterrupted;
    throw;
  }
}

}  // namespace howard::cli
