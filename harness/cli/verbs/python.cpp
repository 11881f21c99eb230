// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/child_process.h"
#include "base/error.h"
#include "base/file.h"
#include "base/input_file.h"
#include "base/text.h"
#include "engines/chip/profiles/profile.h"
#include "engines/python/installation.h"
#include "experiments/axes/machine_file.h"
#include "experiments/axes/machines.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/program.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/run.h"
#include "harness/cli/sharing/ranks.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/verbs/profile_words.h"
#include "harness/cli/verbs/script_summary.h"

namespace howard::cli {

namespace {

namespace fs = std::filesystem;

/// Holds what the command line asks for.
struct ScriptOptions {
  bool check = false;
  bool no_values = false;
  bool virtual_clock = false;
  bool mixed_clock = false;
  bool bottlenecks = false;
  bool what_if = true;
  std::string calls = "ttnn";
  std::string kernel_cache = "warm";
  std::string box;
  std::string workload;
  std::string module;  ///< A module of Python in place of a script.
  chip::ProfileChoice profiles;
  OutputPlaces outputs;
  std::vector<std::string> script;  ///< The script and its arguments.
};

/// The values are the machines that `inference` knows too. Scripts call a t3k as ttnn does, t3000.
Values boxes(std::string& box) {
  std::vector<std::pair<std::string_view, std::string>> words;
  for (const experiments::Machine& machine : experiments::machines()) {
    const std::string_view word = machine.word == "t3k" ? "t3000" : machine.word;
    words.emplace_back(word, word);
  }
  Values values = choice(box, words);
  values.take = [take = values.take, &box](std::string_view option, const std::string& text) {
    if (!experiments::is_machine_file(text)) return take(option, text);
    static_cast<void>(experiments::machine_in(text));  // it can be read
    box = text;
  };
  return values;
}

/// Returns the box; null if none is named.
const experiments::Machine* box_of(const ScriptOptions& options) {
  if (options.box.empty()) return nullptr;
  if (experiments::is_machine_file(options.box)) return &experiments::machine_in(options.box);
  const std::string_view word = options.box == "t3000" ? "t3k" : options.box;
  return &*std::ranges::find(experiments::machines(), word, &experiments::Machine::word);
}

OptionList script_options(ScriptOptions& options) {
  Values script = to(options.script);
  script.takes_rest = true;
  options.outputs.files.offers.pictures = true;
  options.outputs.files.trace = &options.outputs.trace;
  Values module = to(options.module);
  module.takes_rest = true;
  return joined(
      {{{"", "SCRIPT", "", script},
        {"-m", "MODULE",
         "Runs a module of Python as python3 -m does, with the words after it as its arguments: "
         "-m pytest tests",
         module},
        {"--check", "",
         "Lists what of ttnn the script names that is not there, and runs nothing. It looks at the "
         "imports and attributes in the text, so it is approximate",
         to(options.check)},
        {"--no-values", "",
         "Keeps shapes and time only: tensors have no contents, and read as zeros",
         to(options.no_values)},
        {"--virtual-clock", "",
         "Makes time.time() and time.perf_counter() of the script the virtual clock",
         to(options.virtual_clock)},
        {"--mixed-clock", "",
         "Makes them go on by virtual time for what the script asks of ttnn, and by this machine's "
         "time for all else that it does",
         to(options.mixed_clock)},
        {"--box", "NAME",
         "Says which box the script runs in, with its chips: n300 (default), n150, t3000, with 8 "
         "chips, galaxy, with 32, p150x4 or another machine of inference",
         boxes(options.box)},
        renamed("--calls", {"--call-times", "WHOSE",
                            "Says what a call takes its host: ttnn (default), as in ttnn's fast "
                            "mode, 48 us in all, "
                            "or report, as in the report's own Python engine, 453 us",
                            choice(options.calls, {{"ttnn", "ttnn"}, {"report", "report"}})}),
        {"--kernel-cache", "HOW",
         "Says what a program's first call takes: warm (default), where its kernels are in ttnn's "
         "cache on disk, 1.2 ms, or cold, where they are compiled, 0.79 s",
         choice(options.kernel_cache, {{"warm", "warm"}, {"cold", "cold"}})},
        {"--save-workload", "FILE",
         "Writes everything that the script asked of its device to FILE (default: "
         "DIR/SCRIPT.workload.json in the folder of --results). explain FILE and run_experiment "
         "workload -a file=FILE run it again",
         to(options.workload)},
        renamed("--what-if", {"--no-what-if", "", "Does not try what would help, for the summary",
                              to(options.what_if, false)}),
        renamed("--plots",
                {"--pictures", "DIR", "Writes the pictures to DIR", to(options.outputs.pictures)}),
        {"--trace", "FILE", "Writes the timeline, for viewers", to(options.outputs.trace)},
        {"--device-logs", "DIR", "Writes the logs that tt-metal's profiler would write",
         to(options.outputs.device_logs)},
        {"--memory", "DIR", "Shows who held how much memory, and when", to(options.outputs.memory)},
        {"--bottlenecks", "", "Shows what bounds the script, op by op", to(options.bottlenecks)}},
       chip_options(options.profiles),
       output_options(options.outputs,
                      "Chooses the folder where files go by default (default results)")});
}

void require_script(const ScriptOptions& options) {
  if (options.virtual_clock && options.mixed_clock) {
    throw UsageError("a script has one clock; try --virtual-clock or --mixed-clock");
  }
  if (!options.module.empty()) {
    if (options.check) throw UsageError("--check reads a script; try --check SCRIPT");
    return require_settings(options.profiles);
  }
  if (options.script.empty()) {
    throw UsageError("no script is named; try run_experiment python SCRIPT");
  }
  std::error_code ignored;
  if (!fs::is_regular_file(options.script.front(), ignored)) {
    const auto neighbour = neighbour_of(options.script.front());
    throw UsageError(fmt::format("there is no script '{}'; {}", options.script.front(),
                                 neighbour ? fmt::format("did you mean {}?", shell_word(*neighbour))
                                           : "options of python stand before the script"));
  }
  require_settings(options.profiles);
}

python::Installation require_python() {
  const auto python = python::find_installation();
  if (python) return *python;
  throw Error({.attempted = "run a Python script",
               .value = "Python is not there",
               .hint = "to install python3, then configure and build anew"});
}

/// Returns the words that start the interpreter on the script.
std::vector<std::string> script_command(const python::Installation& python,
                                        const ScriptOptions& options, const fs::path& workload) {
  const fs::path starter = python.folder.parent_path() / "_script.py";
  std::vector<std::string> words{python.interpreter.string(), starter.string()};
  if (options.check) words.emplace_back("--check");
  if (options.no_values) words.emplace_back("--no-values");
  if (options.virtual_clock) words.emplace_back("--virtual-clock");
  if (options.mixed_clock) words.emplace_back("--mixed-clock");
  if (const experiments::Machine* const box = box_of(options)) {
    words.insert(words.end(), {"--chips", std::to_string(box->chips)});
  }
  if (!options.module.empty()) words.insert(words.end(), {"--module", options.module});
  words.insert(words.end(),
               {"--call-times", options.calls, "--kernel-cache", options.kernel_cache});
  std::ranges::move(profile_words(options.profiles), std::back_inserter(words));
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
  const OutputPlaces& places = options.outputs;
  const bool wanted = !places.files.empty() || places.files.are_all() ||
                      !(places.pictures + places.trace).empty() || !places.device_logs.empty() ||
                      !places.memory.empty() || options.bottlenecks;
  if (!wanted) return kOk;
  RunOptions run;
  run.names = {"workload"};
  run.plan = {.backends = {harness::Backend::emulated},
              .overrides = {{"file", {workload.string()}}}};
  run.profiles = options.profiles;
  run.outputs = places;
  run.bottlenecks = options.bottlenecks;
  Ranks alone;
  return run_experiments(run, alone);
}

/// Returns the options with the chip of the box, unless the chip that they name is one of the box.
ScriptOptions in_box(ScriptOptions options) {
  require_settings(options.profiles);
  const experiments::Machine* const box = box_of(options);
  if (box == nullptr) return options;
  std::vector<std::string>& profiles = options.profiles.profiles;
  const std::string chip = chip::load_constants({profiles, {}}).chip.built_in();
  if (std::ranges::find(box->profiles, chip) == box->profiles.end()) {
    profiles.emplace_back(box->profiles.front());
  }
  return options;
}

/// Holds where the recorded program goes. Where its folder takes no files, that is said, and it
/// goes to a folder for temporary files, until the summary is made of it.
class WorkloadPlace {
 public:
  explicit WorkloadPlace(const ScriptOptions& options) : file_(options.workload) {
    if (!options.workload.empty()) return;
    const std::string name =
        options.module.empty() ? fs::path(options.script.front()).stem().string() : options.module;
    file_ = options.outputs.results / (name + ".workload.json");
    try {
      if (!options.check) require_writable_folder(options.outputs.results);
    } catch (const Error& failure) {
      complain("warning: the recorded program is not kept: {}", failure.what());
      file_ = fs::temp_directory_path() / fmt::format("{}.{}.workload.json", name, ::getpid());
      is_kept_ = false;
    }
  }
  ~WorkloadPlace() {
    std::error_code ignored;
    if (!is_kept_) fs::remove(file_, ignored);
  }
  WorkloadPlace(const WorkloadPlace&) = delete;
  WorkloadPlace& operator=(const WorkloadPlace&) = delete;

  const fs::path& file() const { return file_; }
  bool is_kept() const { return is_kept_; }

 private:
  fs::path file_;
  bool is_kept_ = true;
};

int run_script(const ScriptOptions& given) {
  const ScriptOptions options = in_box(given);
  require_script(options);
  const fs::path script = options.module.empty() ? options.script.front() : options.module;
  const WorkloadPlace place(options);
  const fs::path& workload = place.file();
  const python::Installation python = require_python();
  catch_signals();
  if (!python::require_extension(python, interrupted)) return kInterrupted;
  std::vector<std::string> command = script_command(python, options, workload);
  std::fflush(stdout);
  std::error_code ignored;
  if (!options.check) fs::remove(workload, ignored);  // that of an earlier run
  const int status = run_child("the script", std::move(command));
  if (options.check) return exit_status_of(status);
  if (!WIFEXITED(status)) {
    complain("{}: {}", script.string(), ending_of(status));
  }
  // A script that opened no chip of ttnn has said so, or how long its ttml took.
  if (!fs::exists(workload, ignored)) return exit_status_of(status);
  print_script_summary({.workload = workload,
                        .is_kept = place.is_kept(),
                        .script = script,
                        .profiles = options.profiles,
                        .has_failed = exit_status_of(status) != kOk,
                        .tries_changes = options.what_if,
                        .virtual_clock = options.virtual_clock || options.mixed_clock,
                        .as_the_report = options.calls == "report",
                        .color = options.outputs.color});
  const int written = write_script_outputs(options, workload);
  const int result = exit_status_of(status);
  return result != kOk ? result : written;
}

}  // namespace

const Command kPython{
    .name = "python",
    .summary = "run a Python script for ttnn on the emulated chip",
    .usage = {"[OPTIONS] SCRIPT [ARGUMENTS]...", "[OPTIONS] -m MODULE [ARGUMENTS]...",
              "--check SCRIPT"},
    .text =
        {{"",
          "The script is run as it is: `import ttnn` finds Howard's stand-in, in this process "
          "only; an installed ttnn is not touched. The values are computed on the host and rounded "
          "as the chip's data types round. The time is virtual, counted by the emulated chip and "
          "its host. torch and NumPy are used if they are there. `import ttml` finds TTML's names "
          "on Howard's autograd engine (docs/ttml.md); it needs NumPy."},
         {"",
          "At the end, also after a crash or Ctrl-C, a summary goes to standard error: calls, "
          "virtual time, what the chip was busy with and what it waited for, and what would help. "
          "Nothing of it depends on the machine's speed."},
         {"",
          "time.time() in a script is the wall clock. howard.now() gives virtual seconds, and "
          "--virtual-clock makes time.time() and time.perf_counter() give them; with --mixed-clock "
          "they count the host's own work in this machine's time. `with "
          "howard.region(\"forward\"):` names a part of the script."}},
    .examples = {"run_experiment python train.py --steps 10",
                 "run_experiment python --no-values --virtual-clock train.py",
                 "run_experiment python -m pytest tests/ttnn",
                 "run_experiment python --save-workload train.json train.py",
                 "run_experiment explain train.json -a trace=yes",
                 "run_experiment python --trace train_trace.json --bottlenecks train.py"},
    .status =
        "the status is that of the script; 2 for a bad command line; 130 after an interruption",
    .begin = begin<script_options, run_script>};

}  // namespace howard::cli
