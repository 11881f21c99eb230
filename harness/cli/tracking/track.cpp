// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/tracking/sides.h"
#include "harness/tracking/formats/json_lines.h"
#include "harness/tracking/git.h"
#include "harness/tracking/history.h"
#include "reports/tables/format.h"

namespace howard::cli {

namespace {

using tracking::Run;

struct TrackOptions {
  std::vector<std::string> results;
  std::string database = "perf.db";
  std::string commit, branch;
  std::string import;
};

OptionList track_options(TrackOptions& options) {
  return {
      {"", "RESULTS", "", to(options.results)},
      database_option(options.database,
                      "Chooses the database (default perf.db), which is made if it is missing"),
      {"--commit", "NAME",
       "Says which commit the results are of: git's names are understood, any other word is kept",
       to(options.commit)},
      {"--branch", "NAME", "Says which branch they are of (default: what git or the CI job says)",
       to(options.branch)},
      {"--import", "FILE",
       "Adds the runs that history --export has written. A run that is there already is left as it "
       "is",
       to(options.import)}};
}

/// Says what the run is of: the commit that was asked for, or the one of name_commit().
void describe_origin(Run& run, const TrackOptions& options, const tracking::GitCheckout& git) {
  if (run.time == 0) {
    run.time = std::chrono::duration_cast<std::chrono::seconds>(
                   std::chrono::system_clock::now().time_since_epoch())
                   .count();
  }
  if (run.mixed && options.commit.empty()) {
    throw Error({.attempted = "track results",
                 .value = "they were made by programs of several commits",
                 .accepted = "results of one commit",
                 .hint = "--commit, if you know which one counts"});
  }
  if (options.commit.empty()) {
    name_commit(run, git);
  } else {
    run.commit = git.commit(options.commit).value_or(options.commit);
  }
  const std::string commit(run.clean_commit());
  if (run.parent.empty()) run.parent = git.parent(commit);
  if (run.commit_time == 0) run.commit_time = git.date(commit);
  if (!options.branch.empty()) run.branch = options.branch;
  if (run.branch.empty()) run.branch = git.branch();
}

std::string commit_text(const Run& run) {
  if (run.commit.empty()) return "an unknown commit";
  return "commit " + tracking::short_commit(run.commit) +
         (run.branch.empty() ? "" : " (" + run.branch + ")");
}

std::size_t judged_count(const Run& run) {
  std::size_t count = 0;
  for (const tracking::Row& row : run.rows) count += row.series.is_judged() ? 1U : 0U;
  return count;
}

int import_runs(const TrackOptions& options) {
  std::vector<Run> runs = read_runs(options.import);
  tracking::History history(options.database, tracking::History::Access::write);
  std::size_t added = 0;
  for (Run& run : runs) {
    if (run.id.empty()) {
      throw Error({.attempted = "import " + options.import,
                   .value = "a run in it has no id",
                   .accepted = "what history --export has written",
                   .hint = "run_experiment track " + shell_word(options.import)});
    }
    added += history.add(run) ? 1U : 0U;
  }
  fmt::print("{}: {} imported, {} known already\n", options.database,
             reports::counted(added, "run"), runs.size() - added);
  return kOk;
}

int track(TrackOptions& options) {
  if (!options.import.empty() &&
      (!options.results.empty() || !options.commit.empty() || !options.branch.empty())) {
    throw UsageError("--import takes runs as they are: no results, --commit or --branch besides");
  }
  if (options.results.empty()) options.results.emplace_back("results");
  if (!options.import.empty()) return import_runs(options);
  const tracking::GitCheckout git;
  std::vector<Run> runs;
  for (const std::string& path : options.results) {
    for (Run& run : read_runs(path)) {
      describe_origin(run, options, git);
      runs.push_back(std::move(run));
    }
  }
  tracking::History history(options.database, tracking::History::Access::write);
  for (Run& run : runs) {
    if (run.id.empty()) run.id = tracking::content_id(run);
    if (!history.add(run)) {
      fmt::print("{}: run {} of {} is there already, and counts once\n", options.database,
                 run.id.substr(0, 12), commit_text(run));
      continue;
    }
    fmt::print("{}: {} of {}, {}\n", options.database,
               reports::counted(judged_count(run), "metric"), commit_text(run),
               reports::counted(history.run_count(), "run"));
  }
  return kOk;
}

}  // namespace

const Command kTrack{
    .name = "track",
    .summary = "store results in a database, for compare and history",
    .usage = {"[RESULTS...] [--db FILE] [OPTIONS]"},
    .text =
        {{"",
          "It stores each file or folder of results as one run of a commit. RESULTS (default: the "
          "folder results) may be results of this program, or what other programs write: Google "
          "Benchmark's, hyperfine's, nvbench's and pytest-benchmark's JSON, criterion's folder or "
          "messages, the text of Go's benchmarks, a JSON list of {name, value, unit}, tt-metal's "
          "ops_perf_results CSV (the kernel times of each op on each shape). What was measured "
          "once counts once: a copy of a run that is there is left out. The commit is that of the "
          "program that "
          "made the results, if it is one of the git checkout you are in; else it is what is "
          "checked out there. A run is stored in one transaction: whatever happens, it is there as "
          "a whole or not at all, and several programs may write at once."}},
    .examples =
        {"run_experiment all --backend emulated && run_experiment track --db perf.db",
         "./my_benchmark --benchmark_out=b.json && run_experiment track b.json --db perf.db",
         "run_experiment history --db perf.db --export runs.jsonl",
         "run_experiment track --import runs.jsonl --db copy.db"},
    .status =
        "0 done; 1 an error: results that cannot be read, a database that is locked, full, "
        "read-only or of a newer version; 2 bad command line",
    .begin = begin<track_options, track>};

}  // namespace howard::cli
