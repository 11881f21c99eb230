// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/tracking/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/tracking/bisect.h"
#include "harness/tracking/comparison/pairs.h"
#include "harness/tracking/git.h"
#include "harness/tracking/history.h"
#include "harness/tracking/worktree.h"
#include "reports/tables/format.h"

namespace howard::cli {

extern const std::string_view kBisectHelp;  // the build compiles bisect_help.md in

namespace {

using tracking::Run;
using tracking::Series;

struct BisectOptions {
  std::string name;
  std::string database;
  std::string branch, good, bad;
  std::string run;
  tracking::CommandOptions command{.limit = 3600};
  std::string metric = "time";
  bool help = false;
};

BisectOptions bisect_options(int argc, const char* const* argv) {
  CLI::App app;
  BisectOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("name", options.name);
  app.add_option("--db", options.database);
  app.add_option("--branch", options.branch);
  app.add_option("--good", options.good);
  app.add_option("--bad", options.bad);
  app.add_option("--run", options.run);
  add_number(app, "--limit", options.command.limit, 0.001, 1e7);
  app.add_option("--metric", options.metric);
  parse_command_line(app, argc, argv);
  if (options.help) return options;
  if (options.name.empty()) {
    throw UsageError("bisect takes a part of a benchmark's name; try run_experiment bisect --help");
  }
  if (!options.run.empty() && options.good.empty()) {
    throw UsageError("--run needs --good COMMIT, from which the search begins");
  }
  if (!options.bad.empty() && options.good.empty()) throw UsageError("--bad needs --good COMMIT");
  std::error_code ignored;
  if (options.database.empty() && std::filesystem::exists("perf.db", ignored)) {
    options.database = "perf.db";
  }
  if (options.database.empty() && options.run.empty()) {
    throw UsageError("bisect looks commits up with --db FILE, or measures them with --run LINE");
  }
  return options;
}

[[noreturn]] void fail_name(const BisectOptions& options, std::string value, std::string hint) {
  throw Error({.attempted = fmt::format("bisect {} of '{}'", options.metric, options.name),
               .value = std::move(value),
               .accepted = "a part of the name of one benchmark with a virtual time",
               .hint = std::move(hint)});
}

/// Returns the one series that the user means.
Series meant(const BisectOptions& options, const std::vector<Series>& all) {
  std::vector<Series> found;
  for (const Series& series : all) {
    if (series.metric == options.metric &&
        series.benchmark.find(options.name) != std::string::npos) {
      found.push_back(series);
    }
  }
  if (found.empty()) fail_name(options, "nothing has that name", "run_experiment history");
  if (found.front().kind != tracking::Kind::exact) {
    fail_name(options, found.front().benchmark + " is sampled, so that one run decides nothing",
              "run_experiment history, whose change points name a commit");
  }
  if (found.size() > 1) {
    fail_name(options, fmt::format("it means {} benchmarks", found.size()),
              found.front().benchmark);
  }
  return found.front();
}

std::vector<Series> series_of(const Run& run) {
  std::vector<Series> all;
  for (const tracking::Row& row : run.rows) all.push_back(row.series);
  return all;
}

std::string resolved(const tracking::GitCheckout& git, const std::string& name) {
  if (const auto commit = git.commit(name)) return *commit;
  throw Error({.attempted = "find the commit " + name,
               .value = "git knows none here",
               .accepted = "a commit of the checkout you are in",
               .hint = "git log"});
}

/// Returns good, and the commits after it up to bad.
std::vector<std::string> commits_of(const BisectOptions& options,
                                    const tracking::GitCheckout& git) {
  const std::string good = resolved(git, options.good);
  const std::string bad = resolved(git, options.bad.empty() ? "HEAD" : options.bad);
  std::vector<std::string> commits = git.between(good, bad);
  if (commits.empty()) {
    throw Error({.attempted = "bisect",
                 .value = fmt::format("{} is not before {} by first parents", good.substr(0, 12),
                                      bad.substr(0, 12)),
                 .accepted = "two commits of one branch, the older one as --good",
                 .hint = "git log --first-parent"});
  }
  commits.insert(commits.begin(), good);
  return commits;
}

/// Returns the commits of the stored runs from the last one before the time moved on.
std::vector<std::string> stored_commits(const BisectOptions& options,
                                        const tracking::History& history, std::int64_t series) {
  std::vector<std::string> commits;
  const auto points = history.points(series, options.branch, ~std::size_t{0});
  std::size_t first = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].picoseconds != points[i - 1].picoseconds) first = i - 1;
  }
  for (std::size_t i = first; i < points.size(); ++i) {
    if (commits.empty() || commits.back() != points[i].commit) commits.push_back(points[i].commit);
  }
  return commits;
}

void print_finding(const tracking::BisectFinding& finding, const tracking::GitCheckout& git,
                   const Series& series) {
  const auto commit_text = [&](const std::string& commit) {
    const std::string subject = git.subject(commit);
    return commit.substr(0, 12) + (subject.empty() ? "" : " " + subject);
  };
  fmt::print("{} of {}: {} ps -> {} ps ({:+.3g} %)\n", series.metric, series.benchmark,
             finding.before_ps, finding.after_ps,
             finding.before_ps == 0 ? 0.0
                                    : 100 * (static_cast<double>(finding.after_ps) /
                                                 static_cast<double>(finding.before_ps) -
                                             1));
  fmt::print("last with the old time:  {}\n", commit_text(finding.last_good));
  fmt::print("first with the new time: {}\n", commit_text(finding.first_moved));
  if (!finding.unmeasured.empty()) {
    fmt::print(
        "{} between them were not measured, and one of them may have moved it; --good {} "
        "--bad {} --run LINE measures them\n",
        reports::counted(finding.unmeasured.size(), "commit"), finding.last_good.substr(0, 12),
        finding.first_moved.substr(0, 12));
  }
  if (!finding.explanation.empty()) fmt::print("what moved with it: {}\n", finding.explanation);
  for (const std::string& constant : finding.constants) {
    fmt::print("constant that moved: {}\n", constant);
  }
}

int bisect_with(const BisectOptions& options) {
  const tracking::GitCheckout git;
  std::unique_ptr<tracking::History> history;
  if (!options.database.empty()) history = std::make_unique<tracking::History>(options.database);
  std::unique_ptr<tracking::Worktree> worktree;
  const tracking::RunOfCommit stored = [&](const std::string& commit) -> std::optional<Run> {
    if (history == nullptr || commit.empty()) return std::nullopt;
    const auto found = history->find_run(commit);
    return found ? std::optional(history->load(*found)) : std::nullopt;
  };
  const tracking::RunOfCommit measure = [&](const std::string& commit) -> std::optional<Run> {
    if (options.run.empty()) return std::nullopt;
    if (worktree == nullptr) worktree = std::make_unique<tracking::Worktree>(git);
    fmt::print(stderr, "bisect: {} {}\n", commit.substr(0, 12), git.subject(commit));
    worktree->check_out(commit);
    tracking::CommandOptions command = options.command;
    command.folder = worktree->folder();
    return tracking::command_source(options.run, command)();
  };
  Series series;
  std::vector<std::string> commits;
  if (options.good.empty()) {
    std::vector<Series> all;
    for (const auto& one : history->find_series(options.name)) all.push_back(one.series);
    series = meant(options, all);
    for (const auto& one : history->find_series(options.name)) {
      if (one.series == series) commits = stored_commits(options, *history, one.number);
    }
  } else {
    commits = commits_of(options, git);
    std::optional<Run> last = stored(commits.back());
    if (!last) last = measure(commits.back());
    if (!last) fail_name(options, "the database has no run of " + commits.back(), "--run LINE");
    series = meant(options, series_of(*last));
  }
  const auto finding = tracking::find_first_moved(commits, series, stored, measure);
  if (!finding) {
    fmt::print(stderr, "{}: {} of {} has not moved\n", program_name(), series.metric,
               series.benchmark);
    return kFailed;
  }
  print_finding(*finding, git, series);
  return kOk;
}

}  // namespace

int bisect(int argc, const char* const* argv) {
  BisectOptions options = bisect_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kBisectHelp));
    return kOk;
  }
  catch_signals();
  options.command.stop = interrupted;
  try {
    return bisect_with(options);
  } catch (const Error&) {
    if (interrupted()) return kInterrupted;
    throw;
  }
}

}  // namespace howard::cli
