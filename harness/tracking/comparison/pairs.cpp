// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/comparison/pairs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <system_error>
#include <thread>

#include "base/child_process.h"
#include "base/error.h"
#include "base/file.h"
#include "harness/paired_test.h"
#include "harness/statistics.h"
#include "harness/tracking/inputs.h"
#include "reports/tables/format.h"

namespace howard::tracking {
namespace {

/// This is the p of the screening, and 1 minus the confidence of all intervals.
constexpr double kScreen = 0.05;

/// Names a file in the folder for temporary files, which is removed at the end.
class ScratchFile {
 public:
  ScratchFile()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("howard_out_{}_{:08x}", ::getpid(), std::random_device()())) {}
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

[[noreturn]] void fail_command(const std::string& line, const CommandOutcome& outcome) {
  const std::string words = last_line(outcome.err.empty() ? outcome.out : outcome.err);
  throw Error({.attempted = "run '" + line + "'",
               .value = ending_of(outcome.status) + (words.empty() ? "" : "; it said: " + words),
               .accepted = "a command that ends with status 0",
               .hint = "the command by itself"});
}

Run whole_process(const CommandOutcome& outcome) {
  Run run;
  run.conditions.tool = "process";
  run.rows.push_back(
      {.series = {"process", "time", "s", {}, Kind::sampled}, .value = outcome.seconds});
  return run;
}

Run run_once(const std::string& line, const CommandOptions& options) {
  constexpr std::string_view kPlace = "{out}";
  const ScratchFile scratch;
  std::string command = line;
  const std::size_t place = command.find(kPlace);
  if (place != std::string::npos) command.replace(place, kPlace.size(), scratch.path().string());
  const CommandOutcome outcome =
      run_command(command, options.limit, options.stop, options.folder, scratch.path());
  if (options.whole) {
    if (outcome.status != 0) fail_command(line, outcome);
    return whole_process(outcome);
  }
  std::vector<Run> runs;
  try {
    runs = parse_runs(place == std::string::npos ? outcome.out : read_file(scratch.path()),
                      fmt::format("the output of '{}'", line));
  } catch (const Error& reason) {
    if (outcome.status != 0) fail_command(line, outcome);
    ErrorText text = reason.text();
    text.hint = "--whole, which times the command itself";
    throw Error(std::move(text));
  }
  Run run = std::move(runs.front());
  for (std::size_t i = 1; i < runs.size(); ++i) {
    std::ranges::move(runs[i].rows, std::back_inserter(run.rows));
  }
  const bool says_failed =
      std::ranges::any_of(run.rows, [](const Row& row) { return row.series.kind == Kind::failed; });
  if (outcome.status != 0 && !says_failed) fail_command(line, outcome);
  return run;
}

/// Measures pairs and keeps what they showed.
class PairedRuns {
 public:
  PairedRuns(const Source& before, const Source& after, const PairOptions& options)
      : before_(&before), after_(&after), options_(&options), random_(options.seed) {}

  /// Measures `count` pairs, or one if nothing is sampled.
  void measure(std::size_t count, const std::string& stage) {
    befores_.clear();
    afters_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      if (options_->progress) {
        options_->progress(fmt::format("{}pair {} of {}", stage, i + 1, count));
      }
      const bool old_first = random_() % 2 == 0;
      if (old_first) befores_.push_back((*before_)());
      afters_.push_back((*after_)());
      if (!old_first) befores_.push_back((*before_)());
      ++measured_;
      if (i == 0 && !is_sampled()) break;
    }
  }

  /// Returns after - before of each pair that has both, on the row's scale, and fills what the row
  /// says of it.
  std::vector<double> differences(JudgedRow& row) const {
    std::vector<double> old_values, new_values;
    for (std::size_t i = 0; i < befores_.size(); ++i) {
      const Row* const old_row = find(befores_[i], row.series);
      const Row* const new_row = find(afters_[i], row.series);
      if (old_row == nullptr || new_row == nullptr) continue;
      old_values.push_back(old_row->value);
      new_values.push_back(new_row->value);
    }
    const Scale scale(old_values, new_values);
    row.share_of = scale.share_of();
    row.before = harness::median(old_values).value_or(0);
    row.after = harness::median(new_values).value_or(0);
    std::vector<double> found = scale.of(new_values);
    const std::vector<double> old_scaled = scale.of(old_values);
    for (std::size_t i = 0; i < found.size(); ++i) found[i] -= old_scaled[i];
    return found;
  }

  Side before(const std::string& name) const { return {.name = name, .runs = befores_}; }
  /// Returns the second side, whose last run also has what failed in any of the others.
  Side after(const std::string& name) const {
    Side side{.name = name, .runs = afters_};
    for (const Run& run : afters_) {
      for (const Row& row : run.rows) {
        if (row.series.kind != Kind::failed || find(side.last(), row.series) != nullptr) continue;
        std::erase_if(side.runs.back().rows, [&](const Row& other) {
          return other.series.benchmark == row.series.benchmark;
        });
        side.runs.back().rows.push_back(row);
      }
    }
    return side;
  }
  std::size_t measured() const { return measured_; }

 private:
  static const Row* find(const Run& run, const Series& series) {
    const auto found = std::ranges::find(run.rows, series, &Row::series);
    return found == run.rows.end() ? nullptr : &*found;
  }
  bool is_sampled() const {
    return std::ranges::any_of(afters_.front().rows,
                               [](const Row& row) { return row.series.kind == Kind::sampled; });
  }

  const Source* before_;
  const Source* after_;
  const PairOptions* options_;
  std::mt19937_64 random_;
  std::vector<Run> befores_, afters_;
  std::size_t measured_ = 0;
};

bool is_measured(const JudgedRow& row) {
  return row.series.kind == Kind::sampled && row.verdict == Verdict::same;
}

void show(JudgedRow& row, const harness::Shift& shift) {
  if (row.share_of != 0) return;  // there is no ratio
  row.ratio = std::exp(shift.estimate);
  row.after = row.before * *row.ratio;
  row.interval = {std::exp(shift.interval[0]), std::exp(shift.interval[1])};
}

/// Judges all rows by the first stage, and returns the suspects with their shifts.
std::vector<std::pair<JudgedRow*, double>> screen(Comparison& comparison, const PairedRuns& pairs,
                                                  const Limits& limits) {
  std::vector<std::pair<JudgedRow*, double>> suspects;
  for (JudgedRow& row : comparison.rows) {
    if (!is_measured(row)) continue;
    const std::vector<double> differences = pairs.differences(row);
    const harness::Shift shift = harness::signed_rank_shift(differences, kScreen);
    show(row, shift);
    judge(row,
          {.shift = shift.estimate,
           .p = 1,
           .half_width = shift.half_width(),
           .alpha = kScreen,
           .runs = differences.size()},
          limits);
    if (shift.p <= kScreen && exceeds_floors(row, shift.estimate, limits)) {
      suspects.emplace_back(&row, shift.estimate);
    }
  }
  return suspects;
}

/// Judges the suspects again by new pairs alone.
void confirm(const std::vector<std::pair<JudgedRow*, double>>& suspects, const PairedRuns& pairs,
             const Limits& limits) {
  std::vector<harness::Shift> shifts;
  std::vector<std::size_t> counts;
  std::vector<double> p;
  for (const auto& [row, screened] : suspects) {
    const std::vector<double> differences = pairs.differences(*row);
    shifts.push_back(harness::signed_rank_shift(differences, kScreen));
    counts.push_back(differences.size());
    const bool same_direction = shifts.back().estimate * screened > 0;
    p.push_back(same_direction ? shifts.back().p : 1);
  }
  const std::vector<double> adjusted = harness::holm(p);
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    JudgedRow& row = *suspects[i].first;
    show(row, shifts[i]);
    row.needed.reset();
    judge(row,
          {.shift = shifts[i].estimate,
           .p = adjusted[i],
           .half_width = shifts[i].half_width(),
           .alpha = kScreen,
           .runs = counts[i]},
          limits);
  }
}

/// Says that all rows moved alike: interleaved pairs rule the machine out.
void describe_common_shift(Comparison& comparison, const Limits& limits) {
  constexpr std::size_t kFewest = 8;
  std::vector<double> shifts;
  for (const JudgedRow& row : comparison.rows) {
    if (row.series.kind == Kind::sampled && row.ratio) shifts.push_back(std::log(*row.ratio));
  }
  if (shifts.size() < kFewest) return;
  const double middle = *harness::median(shifts);
  if (std::abs(middle) <= limits.relative_floor) return;
  comparison.warnings.push_back(
      fmt::format("half of the sampled metrics moved by {:+.1f} % or more: look for a cause that "
                  "they share, such as the compiler, its options or a library",
                  100 * std::expm1(middle)));
}

std::string load_text(const std::array<double, 3>& load) {
  return fmt::format("load {:.1f} on {} CPUs", load[0], std::thread::hardware_concurrency());
}

}  // namespace

Source command_source(std::string line, CommandOptions options) {
  return [line = std::move(line), options = std::move(options)] { return run_once(line, options); };
}

Comparison compare_pairs(const std::string& before_name, const Source& before,
                         const std::string& after_name, const Source& after, const Limits& limits,
                         const PairOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  PairedRuns pairs(before, after, options);
  pairs.measure(options.pairs, "");
  const Side old_side = pairs.before(before_name);
  const Side new_side = pairs.after(after_name);
  if (!options.anyway) require_comparable(old_side, new_side);
  Comparison comparison = compare_exact(old_side, new_side, limits);
  const auto suspects = screen(comparison, pairs, limits);
  const std::size_t screened = pairs.measured();
  if (!suspects.empty()) {
    const double share = limits.alpha / static_cast<double>(suspects.size());
    pairs.measure(std::max(options.pairs, 2 * harness::fewest_pairs(share)), "suspects again, ");
    confirm(suspects, pairs, limits);
  }
  describe_common_shift(comparison, limits);
  std::array<double, 3> load{};
  if (::getloadavg(load.data(), 3) < 0) load = {};
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  comparison.effort = reports::counted(screened, "pair") + " of processes";
  if (!suspects.empty()) {
    comparison.effort += fmt::format(" and {} more for {}", pairs.measured() - screened,
                                     reports::counted(suspects.size(), "suspect"));
  }
  comparison.effort += fmt::format(", {:.1f} s, {}", took.count(), load_text(load));
  return comparison;
}

}  // namespace howard::tracking
