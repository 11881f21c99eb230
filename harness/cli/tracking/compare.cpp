// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/program.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/outputs/output_files.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/status_line.h"
#include "harness/cli/tracking/baseline.h"
#include "harness/tracking/comparison/comparison.h"
#include "harness/tracking/comparison/comparison_tables.h"
#include "harness/tracking/comparison/pairs.h"

namespace howard::cli {

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
  std::optional<double> threshold;
  bool strict = false;
  bool anyway = false;
  OutputFiles files;
  ColorMode color = ColorMode::automatic;

  bool runs() const { return !exec_a.empty() || !exec_b.empty(); }
};

/// The database of this folder, if there is one.
constexpr const char* kDefaultDatabase = "perf.db";

void require_complete(CompareOptions& options) {
  if (options.runs()) {
    if (options.exec_a.empty() || options.exec_b.empty()) {
      throw UsageError("--exec-a and --exec-b belong together: the old command and the new one");
    }
    if (!options.sides.empty() || !options.database.empty()) {
      throw UsageError("--exec-a and --exec-b are run; they take no files and no --db besides");
    }
    return;
  }
  std::error_code ignored;
  if (options.database.empty() && std::filesystem::exists(kDefaultDatabase, ignored)) {
    options.database = kDefaultDatabase;
  }
  const std::size_t least = options.database.empty() ? 2 : 1;
  if (options.sides.size() < least || options.sides.size() > 2) {
    throw UsageError(fmt::format(
        "compare takes two files, folders or commits, not {}; try run_experiment compare "
        "--help",
        options.sides.size()));
  }
}

OptionList compare_options(CompareOptions& options) {
  options.files.offers = {.results = false, .comparison = true};
  const Applies runs{[&] { return options.runs(); }, "--exec-a and --exec-b"};
  return joined(
      {{{"", "A", "", to(options.sides)},
        {"--db", "FILE",
         "Takes A and B from this database if there are no such files (default perf.db, if it "
         "exists)",
         to(options.database)},
        {"--base", "BRANCH", "Chooses the branch whose merge base is the baseline (default main)",
         to(options.base)},
        {"--exec-a", "LINE",
         "Runs this line of the shell as the old program. It prints results in a format named "
         "above, or writes them to the file {out}",
         to(options.exec_a)},
        {"--exec-b", "LINE", "Runs this one as the new program", to(options.exec_b)},
        {"--whole", "", "Measures the whole time of both commands instead of reading their output",
         to(options.command.whole), runs},
        {"--pairs", "N",
         "Measures N pairs of processes (default 15), and for suspects as many more",
         whole(options.pairs.pairs, 1, 10'000), runs},
        {"--limit", "S", "Ends a process that takes longer than S seconds (default 600)",
         number(options.command.limit, 0.001, 1e6), runs},
        {"--seed", "N", "Seeds the order within the pairs (default 1)",
         whole(options.pairs.seed, 0, ~std::uint64_t{0}), runs},
        renamed(
            "--fail-above,--max-regression",
            {"--threshold", "R",
             "Allows a metric to become worse by R, as 0.05 or 5%: exact times (default 0), and "
             "sampled metrics of A and B, whose medians alone are compared then, without regard to "
             "noise. With --exec-a, sampled metrics are still judged by all pairs, and R is the "
             "least "
             "--floor",
             share(options.threshold)}),
        {"--floor", "R", "Takes no smaller change of a sampled metric for a finding (default 1%)",
         share(options.limits.relative_floor)},
        {"--floor-seconds", "S", "Takes no change by fewer seconds for a finding (default 1e-9)",
         number(options.limits.absolute_floor, 0, 1e6)},
        {"--alpha", "P", "Bounds the probability of a false alarm in a suite (default 0.01)",
         number(options.limits.alpha, 1e-6, 0.5)},
        {"--detect", "R", "Calls a row ambiguous that would not show a change by R (default 5%)",
         share(options.limits.detect)},
        {"--strict", "", "Returns 4 if something is faster or stale, and 5 if it is ambiguous",
         to(options.strict)},
        {"--anyway", "",
         "Compares different machines, profiles or tools, which is refused otherwise",
         to(options.anyway)}},
       options.files.options(),
       {color_option(options.color)}});
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

/// Returns the exit status that a comparison calls for; `strict` counts a baseline that is out of
/// date and rows that are ambiguous.
int status_of(const Comparison& comparison, bool strict) {
  const auto has = [&](Verdict verdict) { return comparison.count(verdict) > 0; };
  if (has(Verdict::failed)) return kFailed;
  if (has(Verdict::slower)) return kRegression;
  if (has(Verdict::missing) || has(Verdict::added)) return kOtherPoints;
  if (!strict) return kOk;
  if (has(Verdict::faster) || has(Verdict::stale)) return kStaleBaseline;
  return has(Verdict::ambiguous) || comparison.moved_together ? kAmbiguous : kOk;
}

/// Puts --threshold where it counts: as a plain gate, or as a floor of what pairs have shown.
void apply_threshold(CompareOptions& options) {
  if (!options.threshold) return;
  tracking::Limits& limits = options.limits;
  limits.threshold = *options.threshold;
  limits.plain = !options.runs();
  if (options.runs()) limits.relative_floor = std::max(limits.relative_floor, *options.threshold);
}

int compare(CompareOptions& options) {
  require_complete(options);
  options.files.require_apart();
  apply_threshold(options);
  try {
    const Comparison comparison =
        options.runs() ? compare_commands(options) : compare_stored(options);
    for (const std::string& warning : comparison.warnings) {
      complain("warning: {}", warning);
    }
    const Shown shown{.tables = tracking::comparison_tables(comparison), .comparison = &comparison};
    const reports::TerminalStyle style = terminal_style(STDOUT_FILENO, options.color);
    std::vector<std::filesystem::path> written;
    options.files.print(shown, "text", style);
    if (!options.files.write(shown, {}, style, written)) return kFailed;
    say_written(written);
    return status_of(comparison, options.strict);
  } catch (const Error&) {
    if (options.runs() && interrupted()) return kInterrupted;
    throw;
  }
}

}  // namespace

const Command kCompare{
    .name = "compare",
    .summary = "show what is slower, faster, missing or new in the second of two runs",
    .usage = {"A B [OPTIONS]", "[A] B --db FILE [OPTIONS]", "--exec-a OLD --exec-b NEW [OPTIONS]"},
    .text =
        {{"",
          "A and B are files or folders of results: of this program (-o, "
          "--results), or what another benchmark program wrote (track --help names them). With "
          "--db they may also be commits or branches of a database that track has "
          "written; without A, B is compared with the merge base of its commit and --base. A "
          "folder of several files of another program is several runs; copies count once. Where "
          "B is the first stored run of --base itself, there is nothing to compare it with: "
          "that is said, and the status is 0."},
         {"",
          "Exact metrics (virtual times) have no noise: any picosecond is a finding, with the "
          "ops, facts and constants that moved with it. Sampled metrics (wall time) are judged "
          "by runs, never by the samples within one process, which miss most of the noise. "
          "--exec-a and --exec-b measure best: they run both commands in interleaved pairs of "
          "fresh processes. A row that looks changed is measured again, and only the new pairs "
          "decide (signed-rank test, corrected for the number of suspects): a suite without a "
          "change raises a false alarm with a probability of --alpha at most. \"detects\" is "
          "the smallest change that the runs would have shown four times out of five. With "
          "--threshold, two files are compared by their values alone, without all that."},
         {"",
          "Verdicts: same, slower, faster, stale (the baseline's branch has moved on to the "
          "same level), ambiguous (too few or too noisy runs: \"needs\" says how many would "
          "decide), missing, new, failed."}},
    .examples =
        {"run_experiment all --backend emulated --times before.txt",
         "run_experiment compare before.txt after.txt",
         "run_experiment compare results_of_main results -o junit.xml",
         "run_experiment compare old.json new.json --threshold 5%",
         "run_experiment compare HEAD --db perf.db --base main --format github",
         "run_experiment compare --exec-a './old --benchmark_format=json' \\\n    --exec-b './new "
         "--benchmark_format=json'",
         "run_experiment compare --exec-a './old input' --exec-b './new input' --whole --pairs 20"},
    .status =
        "0 nothing is slower, missing, new or failed, or there is no earlier run of --base to "
        "compare with; 1 an error, or a benchmark failed in B; 2 bad command line; 3 something is "
        "slower; 6 a point is missing or new; 4 with --strict: the baseline is out of date; 5 with "
        "--strict: something is ambiguous; 130 interrupted. If several are true, the first of 1, "
        "3, 6, 4, 5 is returned.",
    .begin = begin<compare_options, compare>};

}  // namespace howard::cli
