// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/status_line.h"
#include "harness/environment.h"
#include "harness/paired_test.h"
#include "harness/tracking/formats/json_lines.h"
#include "harness/tracking/gate.h"
#include "harness/tracking/gate_suite.h"
#include "reports/tables/format.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

namespace {

struct SelftestOptions {
  std::string exec;
  std::string json;  ///< Where the findings go; empty: nowhere.
  tracking::CommandOptions command;
  tracking::GateOptions gate;
  tracking::Limits limits;
  bool suite = false;
  double slowdown = 0;
  ColorMode color = ColorMode::automatic;
};

OptionList selftest_options(SelftestOptions& options) {
  return {{"--comparisons", "N",
           "Compares the suite with itself N times, and half as often with each slowdown (default "
           "20, which takes some minutes)",
           whole(options.gate.comparisons, 1, 100'000)},
          {"--pairs", "N", "Measures N pairs of processes in a comparison (default 15)",
           whole(options.gate.pairs, 1, 10'000)},
          {"--most-pairs", "N", "Measures at most N pairs when a row asks for more (default 100)",
           whole(options.gate.most_pairs, 1, 10'000)},
          {"--json", "FILE", "Writes the findings to FILE after every comparison (howard.gate/1)",
           to(options.json)},
          {"--exec", "LINE", "Tests with this line of the shell, as compare --exec-a takes it",
           to(options.exec)},
          {"--limit", "S", "Ends a process that takes longer than S seconds (default 600)",
           number(options.command.limit, 0.001, 1e6)},
          {"--floor", "R", "Takes no smaller change for a finding (default 0.01)",
           number(options.limits.relative_floor, 0, 1e6)},
          {"--floor-seconds", "S", "Takes no change by fewer seconds for a finding (default 1e-9)",
           number(options.limits.absolute_floor, 0, 1e6)},
          {"--alpha", "P", "Bounds the probability of a false alarm in a suite (default 0.01)",
           number(options.limits.alpha, 1e-6, 0.5)},
          {"--seed", "N", "Seeds the order within the pairs (default 1)",
           whole(options.gate.seed, 0, ~std::uint64_t{0})},
          {"--suite", "",
           "Runs the suite once in this process and prints its times, as compare reads them",
           to(options.suite)},
          {"--slowdown",
           "R",
           "With --suite: makes every tenth row do that much more work: 0.05 is 5 %",
           number(options.slowdown, 0, 10),
           {[&] { return options.suite; }, "--suite"}},
          color_option(options.color)};
}

/// Returns a source whose every tenth sampled row, from the first, is multiplied by 1 + slowdown.
tracking::Source scaled(const tracking::Source& suite, double slowdown) {
  return [suite, slowdown] {
    tracking::Run run = suite();
    for (tracking::Row& row : run.rows) {
      constexpr std::size_t kEvery = 10;
      const auto place = static_cast<std::size_t>(&row - run.rows.data());
      const bool sampled = row.series.kind == tracking::Kind::sampled;
      if (sampled && place % kEvery == 0) row.value *= 1 + slowdown;
    }
    return run;
  };
}

tracking::GateFindings test_built_in(const SelftestOptions& options) {
  const std::string program = shell_word(std::filesystem::read_symlink("/proc/self/exe").string()) +
                              " selftest-gate --suite";
  const auto source = [&](double slowdown) {
    return tracking::command_source(
        slowdown > 0 ? fmt::format("{} --slowdown {}", program, slowdown) : program,
        options.command);
  };
  return tracking::test_gate(source(0), source, tracking::is_slowed, options.limits, options.gate);
}

tracking::GateFindings test_command(const SelftestOptions& options) {
  const tracking::Source suite = tracking::command_source(options.exec, options.command);
  const tracking::Run once = suite();
  std::vector<tracking::Series> slowed;
  for (std::size_t i = 0; i < once.rows.size(); i += 10) {
    if (once.rows[i].series.kind == tracking::Kind::sampled) slowed.push_back(once.rows[i].series);
  }
  if (slowed.empty()) {
    throw Error({.attempted = "test the gate with '" + options.exec + "'",
                 .value = "its first benchmark is not sampled",
                 .accepted = "a command that prints measured times",
                 .hint = "selftest-gate without --exec"});
  }
  return tracking::test_gate(
      suite, [&](double slowdown) { return scaled(suite, slowdown); },
      [&](const tracking::Series& series) {
        return std::ranges::find(slowed, series) != slowed.end();
      },
      options.limits, options.gate);
}

/// Returns 1 if there were more false alarms than chance explains.
int status_of(const tracking::GateFindings& findings, const tracking::Limits& limits) {
  const auto interval = harness::share_interval95(findings.alarms, findings.comparisons);
  return interval[0] > limits.alpha ? kFailed : kOk;
}

/// Keeps what has been found, and writes it after every comparison.
class GateProgress {
 public:
  explicit GateProgress(const SelftestOptions& options) : options_(&options) {}

  void show(const std::string& text) { line_.show("selftest-gate: " + text); }

  void take(const tracking::GateFindings& findings, const std::string& what) {
    findings_ = findings;
    write(false);
    if (line_.is_enabled()) return;
    std::size_t missed = 0;
    for (const tracking::Detection& one : findings.detections) missed += one.missed;
    fmt::print(stderr, "selftest-gate: {}: {} and {} missed so far\n", what,
               reports::counted(findings.alarms, "false alarm"),
               reports::counted(missed, "slower row"));
  }

  void write(bool finished) const {
    if (options_->json.empty()) return;
    write_file(options_->json, tracking::gate_json(findings_, options_->limits, record(finished)));
  }

  void print() {
    line_.clear();
    const reports::TerminalStyle style = terminal_style(STDOUT_FILENO, options_->color);
    fmt::print("{}\n", terminal_table(tracking::gate_table(findings_), style));
    for (const std::string& text : tracking::gate_lines(findings_, options_->limits)) {
      fmt::print("{}\n", text);
    }
    const tracking::GateRecord now = record(true);
    fmt::print("{:.0f} s; load {:.1f} on {} CPUs at the end\n", now.seconds, now.load,
               std::thread::hardware_concurrency());
  }

  const tracking::GateFindings& findings() const { return findings_; }

 private:
  using Clock = std::chrono::steady_clock;

  tracking::GateRecord record(bool finished) const {
    const std::chrono::duration<double> took = Clock::now() - begin_;
    double load = 0;
    static_cast<void>(::getloadavg(&load, 1));
    return {.machine = fmt::format("{}, {} CPUs", harness::describe_environment().cpu,
                                   std::thread::hardware_concurrency()),
            .pairs = options_->gate.pairs,
            .most_pairs = options_->gate.most_pairs,
            .seconds = took.count(),
            .load = load,
            .finished = finished};
  }

  const SelftestOptions* options_;
  StatusLine line_{true};
  Clock::time_point begin_ = Clock::now();
  tracking::GateFindings findings_;
};

/// Tests the gate and prints what was found; of a test that is interrupted, what was found so far.
int run_test(SelftestOptions options) {
  GateProgress progress(options);
  options.gate.progress = [&](const std::string& text) { progress.show(text); };
  options.gate.compared = [&](const tracking::GateFindings& findings, const std::string& what) {
    progress.take(findings, what);
  };
  progress.write(false);  // a file that cannot be written is said now, not after the first hour
  try {
    static_cast<void>(options.exec.empty() ? test_built_in(options) : test_command(options));
  } catch (const Error&) {
    if (!interrupted()) throw;
    if (progress.findings().comparisons > 0) progress.print();
    return kInterrupted;
  }
  progress.write(true);
  progress.print();
  return status_of(progress.findings(), options.limits);
}

int selftest_gate(SelftestOptions& options) {
  if (options.suite) {
    tracking::Run run = tracking::run_gate_suite(options.slowdown);
    run.id = "suite";
    fmt::print("{}\n", tracking::run_line(run));
    return kOk;
  }
  catch_signals();
  options.command.stop = interrupted;
  return run_test(std::move(options));
}

}  // namespace

const Command kSelftestGate{
    .name = "selftest-gate",
    .summary = "measure how far compare can be trusted on this machine",
    .usage = {"[OPTIONS]"},
    .text = {{"",
              "It compares a suite of benchmarks with itself, as compare --exec-a --exec-b does, "
              "and counts the suites that raise a false alarm. Then it compares the suite with one "
              "in which every tenth row is 5 % slower, and 2 % slower, and counts the rows that "
              "are found, at once or with the runs that the row asks for, and those that are "
              "missed. It also says which change could be seen at all. The suite has thirty rows "
              "of its own, which really do that much more work; or it is what --exec prints, and "
              "then the times of the second side are multiplied. A test that is interrupted says "
              "what it has found so far."}},
    .examples =
        {"run_experiment selftest-gate", "run_experiment selftest-gate --comparisons 200",
         "run_experiment selftest-gate --exec './my_benchmark --benchmark_format=json' --pairs 20"},
    .status =
        "0 done; 1 an error, or more false alarms than chance explains; 2 bad command line 130 "
        "interrupted",
    .begin = begin<selftest_options, selftest_gate>};

}  // namespace howard::cli
