// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/python.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/child_process.h"
#include "base/error.h"
#include "engines/chip/profiles/profile.h"
#include "engines/python/installation.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/options.h"
#include "harness/cli/profile_options.h"
#include "harness/cli/run.h"
#include "harness/cli/sharing/ranks.h"
#include "harness/cli/table_options.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/cli/verbs/script_summary.h"

namespace howard::cli {

extern const std::string_view kPythonHelp;  // the build compiles python_help.md in

namespace {

namespace fs = std::filesystem;

/// Holds what the command line asks for.
struct ScriptOptions {
  bool help = false;
  bool check = false;
  bool no_values = false;
  bool virtual_clock = false;
  bool bottlenecks = false;
  bool what_if = true;
  std::string calls = "ttnn";
  std::string kernel_cache = "warm";
  std::string workload;
  fs::path results = "results";
  std::string json, csv, markdown, plots, trace, device_logs, memory;
  chip::ProfileChoice profiles;
  ColorMode color = ColorMode::automatic;
  std::vector<std::string> script;  ///< The script and its arguments.
};

constexpr std::array kFlags{"-h",          "--help",          "--check",
                            "--no-values", "--virtual-clock", "--bottlenecks"};

/// Returns how many words of the command line come before the script.
int words_before_script(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with('-') || word == "-") return i;
    const bool is_flag = std::ranges::find(kFlags, word) != kFlags.end();
    if (!is_flag && word.find('=') == std::string_view::npos) ++i;  // its value
  }
  return argc;
}

ScriptOptions script_options(int argc, const char* const* argv) {
  CLI::App app;
  ScriptOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_flag("--check", options.check);
  app.add_flag("--no-values", options.no_values);
  app.add_flag("--virtual-clock", options.virtual_clock);
  app.add_flag("--bottlenecks", options.bottlenecks);
  add_choice<bool>(app, "--what-if", options.what_if, {{"yes", true}, {"no", false}});
  add_choice<std::string>(app, "--calls", options.calls, {{"ttnn", "ttnn"}, {"report", "report"}});
  add_choice<std::string>(app, "--kernel-cache", options.kernel_cache,
                          {{"warm", "warm"}, {"cold", "cold"}});
  app.add_option("--save-workload", options.workload);
  add_profile_options(app, options.profiles);
  add_table_options(app, options);
  app.add_option("--plots", options.plots);
  app.add_option("--trace", options.trace);
  app.add_option("--device-logs", options.device_logs);
  app.add_option("--memory", options.memory);
  const int own = std::min(words_before_script(argc, argv), argc);
  parse_command_line(app, own, argv);
  options.script.assign(argv + own, argv + argc);
  if (options.help) return options;
  if (options.script.empty()) {
    throw UsageError("no script is named; try run_experiment python SCRIPT");
  }
  std::error_code ignored;
  if (!fs::is_regular_file(options.script.front(), ignored)) {
    throw UsageError(
        fmt::format("there is no script '{}'; options of python stand before the script",
                    options.script.front()));
  }
  require_settings(options.profiles);
  return options;
}

/// Returns the words that start the interpreter on the script.
std::vector<std::string> script_command(const ScriptOptions& options, const fs::path& workload) {
  const auto python = python::find_installation();
  if (!python) {
    throw Error({.attempted = "run a Python script",
                 .value = "Python is not there",
                 .hint = "to install python3, then configure and build anew"});
  }
  const fs::path starter = python->folder.parent_path() / "_script.py";
  std::vector<std::string> words{python->interpreter.string(), starter.string()};
  if (options.check) words.emplace_back("--check");
  if (options.no_values) words.emplace_back("--no-values");
  if (options.virtual_clock) words.emplace_back("--virtual-clock");
  words.insert(words.end(), {"--calls", options.calls, "--kernel-cache", options.kernel_cache});
  for (const std::string& profile : options.profiles.profiles) {
    words.insert(words.end(), {"--profile", profile});
  }
  for (const std::string& setting : options.profiles.settings) {
    words.insert(words.end(), {"--set", setting});
  }
  words.insert(words.end(), {"--workload", workload.string(), "--"});
  words.insert(words.end(), options.script.begin(), options.script.end());
  return words;
}

/// Runs a program with our streams and returns how it ended. A Ctrl-C is passed on to it, once.
int run_child(std::string name, std::vector<std::string> words) {
  ChildProcess child({.name = std::move(name),
                      .words = std::move(words),
                      .environment = {},
                      .folder = {},
                      .descriptors = {0, 1, 2}});
  constexpr std::chrono::milliseconds kLook{50};
  bool told = false;
  while (true) {
    if (const auto status = child.wait(ChildProcess::Clock::now() + kLook)) return *status;
    if (interrupted() && !std::exchange(told, true)) child.signal_all(SIGINT);
  }
}

/// Returns the status as a shell gives it: after a signal, 128 plus its number.
int exit_status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Writes the outputs that experiments have for the program that was recorded: the experiment
/// `workload` runs it again, in the same virtual time.
int write_script_outputs(const ScriptOptions& options, const fs::path& workload) {
  const std::array places{&options.json,  &options.csv,         &options.markdown, &options.plots,
                          &options.trace, &options.device_logs, &options.memory};
  const bool wanted =
      std::ranges::any_of(places, [](const auto* place) { return !place->empty(); });
  if (!wanted && !options.bottlenecks) return kOk;
  Options outputs;
  outputs.names = {"workload"};
  outputs.plan = {.backends = {harness::Backend::emulated},
                  .overrides = {{"file", {workload.string()}}}};
  outputs.profiles = options.profiles;
  outputs.results = options.results;
  outputs.json = options.json;
  outputs.csv = options.csv;
  outputs.markdown = options.markdown;
  outputs.plots = options.plots;
  outputs.trace = options.trace;
  outputs.device_logs = options.device_logs;
  outputs.memory = options.memory;
  outputs.bottlenecks = options.bottlenecks;
  outputs.color = options.color;
  Ranks alone;
  return run_experiments(outputs, alone);
}

}  // namespace

int python(int argc, const char* const* argv) {
  const ScriptOptions options = script_options(argc, argv);
  if (options.help) {
    fmt::print("{}", manual(kPythonHelp));
    return kOk;
  }
  const fs::path script = options.script.front();
  const fs::path workload = options.workload.empty()
                                ? options.results / (script.stem().string() + ".workload.json")
                                : fs::path(options.workload);
  std::vector<std::string> command = script_command(options, workload);
  std::fflush(stdout);
  catch_signals();
  std::error_code ignored;
  fs::remove(workload, ignored);
  const int status = run_child("the script", std::move(command));
  if (options.check) return exit_status_of(status);
  if (!WIFEXITED(status)) {
    fmt::print(stderr, "run_experiment: {}: {}\n", script.string(), ending_of(status));
  }
  // A script that opened no chip of ttnn has said so, or how long its ttml took.
  if (!fs::exists(workload, ignored)) return exit_status_of(status);
  print_script_summary({.workload = workload,
                        .script = script,
                        .profiles = options.profiles,
                        .tries_changes = options.what_if,
                        .virtual_clock = options.virtual_clock,
                        .as_the_report = options.calls == "report",
                        .color = options.color});
  const int written = write_script_outputs(options, workload);
  const int result = exit_status_of(status);
  return result != kOk ? result : written;
}

}  // namespace howard::cli
