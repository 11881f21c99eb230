// SPDX-License-Identifier: Apache-2.0
//
// This is the composition root. It reads the first word of the command line, runs its command or
// the experiments that it names, and turns failures into exit codes.

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bad_request.h"
#include "base/error.h"
#include "base/text.h"
#include "experiments/laboratory/laboratory.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/known.h"
#include "harness/cli/command/manual.h"
#include "harness/cli/command/program.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/objects/rewording.h"
#include "harness/cli/run.h"
#include "harness/cli/run_options.h"
#include "harness/cli/sharing/ranks.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/streams.h"

namespace howard::cli {
namespace {

/// Throws UsageError if `what`, which works in one process only, is asked for in several.
void require_alone(const Ranks& ranks, std::string_view what) {
  if (ranks.size() == 1) return;
  throw UsageError(fmt::format("{} works in one process, not in {}: start it without mpirun", what,
                               ranks.size()));
}

/// Prints what --help and --version ask for.
int answer(const RunOptions& options, const Given& given) {
  const bool is_short = !given.has("--help");
  if (given.has("--version")) {
    fmt::print("{}", version_text());
  } else if (options.names.empty() ||
             std::ranges::find(options.names, "all") != options.names.end()) {
    fmt::print("{}", is_short ? short_help_of(kRunCommand) : help_of(kRunCommand));
  } else {
    const experiments::Laboratory laboratory;
    std::vector<std::string> texts;
    for (const auto* const one : select(laboratory.experiments(), options.names))
      texts.push_back(is_short ? short_description(*one) : description(*one));
    fmt::print("{}", join(texts, "\n"));
  }
  return kOk;
}

int run_named(RunOptions& options, const Given& given, Ranks& ranks) {
  for (const char* const option : {"--device-logs", "--memory", "--bottlenecks"}) {
    if (given.has(option)) require_alone(ranks, option);
  }
  if (!options.outputs.trace.empty()) require_alone(ranks, "--trace");
  if (options.page) require_alone(ranks, "--page");
  if (given.has("-h") || given.has("--help") || given.has("--version")) {
    return ranks.is_first() ? answer(options, given) : kOk;
  }
  complete(options);
  options.given = &given;
  return run_experiments(options, ranks);
}

int run(int argc, const char* const* argv, Ranks& ranks) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  const std::vector<std::string> words = reworded(given, ranks.is_first());
  const Command* const command = words.empty() ? nullptr : find_command(words.front());
  if (command == nullptr) return run_command(kRunCommand, words, ranks);
  return run_command(*command, std::span(words).subspan(1), ranks);
}

/// Reports what has gone wrong, once for all ranks that it concerns.
void complain_once(Ranks& ranks, const std::string& text) {
  const bool speaks = ranks.has_agreed() || ranks.agree(false, "") == ranks.rank();
  if (speaks) complain(text);
}

int run_as_rank(int argc, const char* const* argv) {
  Ranks ranks;
  try {
    return run(argc, argv, ranks);
  } catch (const UsageError& failure) {
    complain_once(ranks, failure.what());
    return kUsage;
  } catch (const BadRequest& failure) {
    complain_once(ranks, failure.what());
    return kUsage;
  } catch (const std::exception& failure) {
    complain_once(ranks, reason_of(failure));
    return kFailed;
  }
}

}  // namespace

const Command kRunCommand{
    .name = "",
    .summary = "run an experiment on an emulated Tenstorrent chip and on this machine's CPU",
    .usage = {"NAME... [OPTIONS]   runs experiments by name",
              "FILE | FOLDER       runs, analyzes or plans it: step.py, LOG.csv, training.yaml, "
              "config.json, model.onnx, module.mlir, results, a folder of the profiler",
              "all [OPTIONS]       runs every experiment, but not the tools about the emulator",
              "NAME --help         shows the axes of an experiment or the options of a command",
              "COMMAND ..."},
    .text = {},
    .examples =
        {"run_experiment matmul_sweep",
         "run_experiment matmul_sweep --backend emulated -a shape=4032,4096,8192",
         "run_experiment matmul_sweep -a shape=512x1024x2048 -a dispatch=eth --trace trace.json",
         "run_experiment gpt2_full --backend emulated -a engine=ttml --bottlenecks",
         "run_experiment matmul_sweep --backend host -a dtype=float32 --threads 2 --json -"},
    .status =
        "0 done; 1 an error, or a point that failed; 2 bad command line; 130 interrupted by "
        "Ctrl-C, SIGTERM or SIGHUP. An interrupted run writes what it has finished; a second "
        "signal ends it",
    .begin = begin<run_options, run_named>,
    .parts =
        {{.title = "WHAT TO RUN"},
         {.title = "HOW TO MEASURE"},
         {.title = "WHERE RESULTS GO",
          .items = {{"",
                     "Tables go to standard output, all other messages to standard error. Each "
                     "experiment writes NAME.json, NAME.csv, NAME.md and pictures, with their "
                     "gnuplot scripts and data. At the end the program names the files of the same "
                     "experiment in these folders that only an earlier run wrote."}}},
         {.title = "SEVERAL PROCESSES AND MACHINES",
          .items = {{"",
                     "mpirun -n N ./run_experiment NAME... shares the emulated points of one run "
                     "among N processes and writes the same bytes as one process would. Wall-clock "
                     "points run on the first process. This needs a build that found MPI (apt-get "
                     "install libopenmpi-dev openmpi-bin). Each process uses its share of the "
                     "machine's cores, or --threads. --trace, --device-logs, --memory, "
                     "--bottlenecks and --page work in one process only. On Slurm use: srun "
                     "--mpi=pmix -n N build/release/harness/cli/run_experiment NAME..."}}}},
    .sharing = Sharing::shared};

}  // namespace howard::cli

int main(int argc, char** argv) {
  howard::cli::prepare_streams();
  howard::cli::end_on_signals();  // until a command has something to keep
  int status = howard::cli::kFailed;
  try {
    status = howard::cli::run_as_rank(argc, argv);
  } catch (const std::exception& failure) {
    howard::cli::complain(howard::reason_of(failure));
  }
  // Tables are the result, so a full disk behind a redirection must not pass for success.
  const bool all_taken = howard::cli::end_output();
  return all_taken || status != howard::cli::kOk ? status : howard::cli::kFailed;
}
