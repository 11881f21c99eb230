// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/tracking/selftest_gate.h"

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
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/status_line.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/environment.h"
#include "harness/paired_test.h"
#include "harness/tracking/formats/json_lines.h"
#include "harness/tracking/gate.h"
#include "harness/tracking/gate_suite.h"
#include "reports/tables/format.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

extern const std::string_view kSelftestGateHelp;  // the build compiles selftest_gate_help.md in

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
  bool help = false;
};

SelftestOptions selftest_options(int argc, const char* const* argv) {
  CLI::App app;
  SelftestOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("--exec", options.exec);
  app.add_option("--json", options.json);
  add_whole(app, "--comparisons", options.gate.comparisons, 1, 100'000);
  add_whole(app, "--pairs", options.gate.pairs, 1, 10'000);
  add_whole(app, "--most-pairs", options.gate.most_pairs, 1, 10'000);
  add_whole(app, "--seed", options.gate.seed, 0, ~std::uint64_t{0});
  add_number(app, "--limit", options.command.limit, 0.001, 1e6);
  add_number(app, "--floor", options.limits.relative_floor, 0, 1e6);
  add_number(app, "--floor-seconds", options.limits.absolute_floor, 0, 1e6);
  add_number(app, "--alpha", options.limits.alpha, 1e-6, 0.5);
  app.add_flag("--suite", options.suite);
  add_number(app, "--slowdown", options.slowdown, 0, 10);
  add_color_option(app, options.color);
  parse_command_line(app, argc, argv);
  if (options.slowdown > 0 && !options.suite) throw UsageError("--slowdown is for --suite");
  return options;
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

}  // namespace

int selftest_gate(int argc, const char* const* argv) {
  SelftestOptions options = selftest_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kSelftestGateHelp));
    return kOk;
  }
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

}  // namespace howard::cli
