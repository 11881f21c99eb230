// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/tracking/sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "harness/change_points.h"
#include "harness/cli/command/program.h"
#include "harness/cli/outputs/result_folder.h"
#include "harness/tracking/formats/json_lines.h"
#include "harness/tracking/formats/language_formats.h"
#include "harness/tracking/inputs.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;
using tracking::Run;
using tracking::Side;

/// No more sampled runs before a baseline than this join it.
constexpr std::size_t kMostEarlier = 30;

bool has_results(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".json") continue;
    constexpr std::size_t kBeginning = 200;
    if (read_file(entry.path()).substr(0, kBeginning).find("\"howard.result/") !=
        std::string::npos) {
      return true;
    }
  }
  return false;
}

bool is_of_a_benchmark(const fs::path& file) {
  constexpr std::array<std::string_view, 4> kEndings{".json", ".jsonl", ".csv", ".txt"};
  return std::ranges::find(kEndings, file.extension().string()) != kEndings.end();
}

std::vector<Run> read_folder(const fs::path& folder) {
  if (tracking::is_criterion_folder(folder)) return {tracking::read_criterion_folder(folder)};
  if (has_results(folder)) return {tracking::run_of(read_results({folder.string()}))};
  std::error_code ignored;
  std::vector<fs::path> files, folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.is_directory(ignored)) {
      folders.push_back(entry.path());
    } else if (entry.is_regular_file(ignored) && is_of_a_benchmark(entry.path())) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  std::ranges::sort(folders);
  std::vector<Run> runs;
  for (const fs::path& file : files) {
    std::ranges::move(tracking::parse_runs(read_file(file), file.string()),
                      std::back_inserter(runs));
  }
  for (const fs::path& one : folders) {
    if (has_results(one)) runs.push_back(tracking::run_of(read_results({one.string()})));
  }
  if (runs.empty()) static_cast<void>(read_results({folder.string()}));  // throws, and says why
  return runs;
}

/// Keeps one of each group of equal runs, and returns how many went.
std::size_t remove_copies(std::vector<Run>& runs) {
  std::set<std::string> known;
  return std::erase_if(
      runs, [&](const Run& run) { return !known.insert(tracking::content_id(run)).second; });
}

/// Cuts each series of values off before its last change of level.
void keep_last_level(std::map<tracking::Series, std::vector<double>>& values) {
  for (auto& [series, all] : values) {
    const std::vector<std::size_t> changes = harness::change_points(all);
    if (changes.empty()) continue;
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(changes.back()));
  }
}

}  // namespace

std::vector<Run> read_runs(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return read_folder(path);
  return tracking::parse_runs(read_file(path), path);
}

void name_commit(Run& run, const tracking::GitCheckout& git) {
  if (const auto made_by = git.commit(std::string(run.clean_commit()))) {
    run.commit = *made_by + (run.is_dirty() ? "-dirty" : "");
  } else if (const auto head = git.commit("HEAD")) {
    run.commit = *head + (git.is_dirty() ? "-dirty" : "");
  }
}

Side read_side(const std::string& path, const tracking::GitCheckout& git) {
  Side side{.name = path, .runs = read_runs(path)};
  for (Run& run : side.runs) name_commit(run, git);
  if (const std::size_t copies = remove_copies(side.runs); copies > 0) {
    complain("warning: {} of the {} runs in {} are copies of others, and count once", copies,
             copies + side.runs.size(), path);
  }
  for (const Run& run : side.runs) {
    for (const auto kind : {tracking::Kind::exact, tracking::Kind::sampled}) {
      const std::string differs =
          tracking::difference(run.conditions, side.last().conditions, kind);
      if (differs.empty()) continue;
      throw Error({.attempted = "read the runs in " + path,
                   .value = "they were made under different conditions: " + differs,
                   .accepted = "runs of one machine and one profile",
                   .hint = "a file for each"});
    }
  }
  return side;
}

namespace {

/// Returns the last of `runs` as a side, whose sampled metrics are joined by those of the others.
Side side_of_runs(const tracking::History& history, const std::vector<std::int64_t>& runs) {
  Side side{.runs = {history.load(runs.back())}};
  const Run& last = side.last();
  side.name = tracking::short_commit(last.commit);
  if (!last.branch.empty()) side.name += " (" + last.branch + ")";
  const bool is_sampled = std::ranges::any_of(last.rows, [](const tracking::Row& row) {
    return row.series.kind == tracking::Kind::sampled;
  });
  if (!is_sampled) return side;
  side.earlier = history.sampled_values(history.without_copies(runs));
  keep_last_level(side.earlier);  // the last run may be the first one of a new level
  for (auto& [series, values] : side.earlier) {
    const bool in_last = std::ranges::any_of(
        last.rows, [&](const tracking::Row& row) { return row.series == series; });
    if (in_last) values.pop_back();  // it is counted as the side's own run
  }
  return side;
}

}  // namespace

Side stored_baseline(const tracking::History& history, std::int64_t run) {
  return side_of_runs(history, history.runs_until(run, kMostEarlier + 1));
}

Side stored_side(const tracking::History& history, std::int64_t run) {
  return side_of_runs(history, history.runs_of_commit_until(run, kMostEarlier + 1));
}

std::optional<std::int64_t> stored_run(const tracking::History& history,
                                       const tracking::GitCheckout& git, const std::string& name) {
  if (const auto found = history.find_run(name)) return found;
  const auto commit = git.commit(name);
  return commit ? history.find_run(*commit) : std::nullopt;
}

std::optional<std::int64_t> baseline_run(const tracking::History& history,
                                         const tracking::GitCheckout& git,
                                         const std::string& commit, const std::string& base) {
  const auto fail = [&](std::string value, std::string hint) {
    throw Error({.attempted = fmt::format("find the baseline of {}", commit.substr(0, 12)),
                 .value = std::move(value),
                 .accepted = "a stored run of the merge base, or of a commit before it",
                 .hint = std::move(hint)});
  };
  std::optional<std::string> tip = git.commit(base);
  if (!tip) tip = git.commit("origin/" + base);
  if (!tip) fail(fmt::format("git knows no branch '{}' here", base), "--base BRANCH");
  const auto shared = git.merge_base(*tip, commit);
  if (!shared) {
    fail(fmt::format("git finds no merge base with '{}'", base),
         "a clone with its history (git fetch --unshallow)");
  }
  // On the branch itself the merge base is the commit; its baseline is the one before.
  std::vector<std::string> candidates = git.first_parents(*shared);
  if (*shared == commit && !candidates.empty()) candidates.erase(candidates.begin());
  for (const std::string& candidate : candidates) {
    if (const auto found = history.find_run(candidate)) return *found;
  }
  if (*shared == commit) return std::nullopt;
  fail(fmt::format("{} has no run of '{}' up to {}", history.path().string(), base,
                   shared->substr(0, 12)),
       "run_experiment track on that branch first");
  return std::nullopt;
}

}  // namespace howard::cli
