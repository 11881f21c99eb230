// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/status_line.h"
#include "harness/paired_test.h"
#include "harness/tracking/gate.h"

namespace howard::cli {

namespace {

struct SelftestOptions {
  std::string exec;
  std::string json;  ///< Where the findings go; empty: nowhere.
  tracking::CommandOptions command;
  tracking::GateOptions gate;
  tracking::Limits limits;
};

OptionList selftest_options(SelftestOptions& options) {
  return {{"--comparisons", "N", "Compares the suite with itself N times (default 20)",
           whole(options.gate.comparisons, 1, 100'000)},
          {"--pairs", "N", "Measures N pairs of processes in a comparison (default 15)",
           whole(options.gate.pairs, 1, 10'000)},
          {"--json", "FILE", "Writes the findings to FILE (howard.gate/2)", to(options.json)},
          {"--exec", "LINE",
           "Tests with this line of the shell, as compare --exec-a takes it, and not with products "
           "on this machine's CPU",
           to(options.exec)},
          {"--limit", "S", "Ends a process that takes longer than S seconds (default 600)",
           number(options.command.limit, 0.001, 1e6)},
          {"--floor", "R", "Takes no smaller change for a finding (default 1%)",
           share(options.limits.relative_floor)},
          {"--floor-seconds", "S", "Takes no change by fewer seconds for a finding (default 1e-9)",
           number(options.limits.absolute_floor, 0, 1e6)},
          {"--alpha", "P", "Bounds the probability of a false alarm in a suite (default 0.01)",
           number(options.limits.alpha, 1e-6, 0.5)},
          {"--seed", "N", "Seeds the order within the pairs (default 1)",
           whole(options.gate.seed, 0, ~std::uint64_t{0})}};
}

/// Returns a line that runs short products on one core, in a folder that is gone afterwards.
std::string products_line() {
  return fmt::format(
      "cd \"$(mktemp -d)\" && {} matmul_sweep --backend host -a shape=64,128,192,256 "
      "-a dtype=bfloat16,float32 --repetitions 5 --min-time 0.002 --threads 1 "
      "--json -; status=$?; rm -rf -- \"$PWD\"; exit $status",
      shell_word(std::filesystem::read_symlink("/proc/self/exe").string()));
}

int selftest_gate(SelftestOptions& options) {
  catch_signals();
  options.command.stop = interrupted;
  StatusLine line(true);
  options.gate.progress = [&](const std::string& text) { line.show("selftest-gate: " + text); };
  tracking::GateFindings findings;
  const auto write = [&] {
    if (options.json.empty()) return;
    write_file(options.json, tracking::gate_json(findings, options.limits, options.gate));
  };
  write();  // a file that cannot be written is said now, not after the last comparison
  const std::string suite = options.exec.empty() ? products_line() : options.exec;
  try {
    tracking::test_gate(tracking::command_source(suite, options.command), options.limits,
                        options.gate, findings);
  } catch (const Error&) {
    if (!interrupted()) throw;
  }
  line.clear();
  for (const std::string& text : tracking::gate_lines(findings, options.limits)) {
    fmt::print("{}\n", text);
  }
  write();
  if (interrupted()) return kInterrupted;
  const auto interval = harness::share_interval95(findings.alarms, findings.comparisons);
  return interval[0] > options.limits.alpha ? kFailed : kOk;
}

}  // namespace

const Command kSelftestGate{
    .name = "selftest-gate",
    .summary = "measure how far compare can be trusted on this machine",
    .usage = {"[OPTIONS]"},
    .text = {{"",
              "It compares a suite of benchmarks with itself, as compare --exec-a --exec-b does, "
              "counts the suites that raise a false alarm, and says which change could be seen at "
              "all. A test that is interrupted says what it has found so far."}},
    .examples = {"run_experiment selftest-gate", "run_experiment selftest-gate --comparisons 200",
                 "run_experiment selftest-gate --exec './my_benchmark --benchmark_format=json'"},
    .status =
        "0 done; 1 an error, or more false alarms than chance explains; 2 bad command line; 130 "
        "interrupted",
    .begin = begin<selftest_options, selftest_gate>};

}  // namespace howard::cli
