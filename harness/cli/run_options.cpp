// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "base/usual_names.h"

namespace howard::cli {
namespace {

harness::Backend parse_backend(const std::string& word) {
  for (const auto backend : {harness::Backend::emulated, harness::Backend::host}) {
    const std::vector<std::string_view> others = other_names(word);
    const bool is_other = std::ranges::find(others, name_of(backend)) != others.end();
    if (word == name_of(backend) || is_other) return backend;
  }
  refuse_value("--backend", word, "emulated, host, emulated,host");
}

void understand(RunOptions& options) {
  options.plan.overrides = harness::parse_axis_overrides(options.axes);
  if (!options.backends.empty()) {
    options.plan.backends.clear();
    for (const std::string& word : split(options.backends, ',')) {
      const harness::Backend backend = parse_backend(word);
      if (std::ranges::find(options.plan.backends, backend) == options.plan.backends.end()) {
        options.plan.backends.push_back(backend);
      }
    }
  }
  if (options.plan.quick) options.wall = {.repetitions = 3, .min_time = 0.02};
  if (options.repetitions > 0) options.wall.repetitions = options.repetitions;
  if (options.min_time > 0) options.wall.min_time = options.min_time;
}

OptionList what_to_run(RunOptions& options) {
  Values backends = to(options.backends);
  backends.words = {"emulated", "host"};
  return {{"", "NAME", "", to(options.names, Completes::experiments)},
          {"-a, --axis", "AXIS=V1,V2",
           "Replaces the values of one axis. Repeat it for more axes; each axis may be given "
           "once. `list NAME` shows the axes of an experiment. An axis without a default is not "
           "part of a point unless you give it",
           to(options.axes, Completes::axes)},
          {"--backend", "B1,B2",
           "Chooses emulated (virtual time, deterministic), host (wall time) or both (default)",
           backends},
          {"--filter", "RE",
           "Runs only the points whose id matches the regular expression RE; -RE excludes them",
           to(options.plan.filter)},
          {"--quick", "", "Runs fewer points and repetitions, for a first look or a CI smoke test",
           to(options.plan.quick)},
          {"--dry-run", "", "Prints the ids of the points and stops", to(options.dry_run)}};
}

OptionList how_to_measure(RunOptions& options) {
  const Applies wall{[&] { return options.uses_host; },
                     "wall-clock points, and all of this runs on the emulated chip; leave it out"};
  Option binding = binding_option(options.binding);
  binding.applies = wall;
  return joined(
      {{{"--repetitions", "N",
         "Takes N samples of each wall-clock point, interleaved with those of the others "
         "(default 9, with --quick 3)",
         whole(options.repetitions, harness::kRepetitions), wall},
        {"--min-time", "S",
         "Makes each wall-clock sample last at least S seconds (default 0.1, with --quick "
         "0.02)",
         number(options.min_time, harness::kSecondsOfARepetition.least,
                harness::kSecondsOfARepetition.most),
         wall},
        threads_option(
            options.threads,
            "Uses N threads for the host engine and for emulated points. The results of "
            "emulated points do not depend on N (default: all that the process may use)")},
       {std::move(binding)},
       {{"--seed", "N", "Seeds the values of tensors on the host (default 1)",
         whole(options.seed, 0, std::numeric_limits<std::uint64_t>::max())}},
       chip_options(options.profiles)});
}

/// The options for which points run once more, watched.
OptionList recording_options(RunOptions& options) {
  return {{"--trace", "FILE",
           "Records one more iteration of every point as a Chrome trace; open it at "
           "ui.perfetto.dev. FILE.pftrace is Perfetto's own format, which is smaller and "
           "opens faster. Each point begins at 0. A kernel shows its shapes, FLOPs, bytes "
           "and cores, and what the chip waited for before it. For points on the host the "
           "program also prints how much time the recording added",
           to(options.outputs.trace)},
          {"--device-logs", "DIR",
           "Writes ops_perf_results and profile_log_device CSVs of every emulated point to "
           "DIR/NAME/POINT, in tt-metal's format. tt-perf-report and `analyze` read them",
           to(options.outputs.device_logs)},
          page_option(options.page,
                      "Writes FILE, or index.html in the folder of the results: one "
                      "page with the summary, every table and chart, and a timeline "
                      "of the first emulated point of each experiment with the "
                      "memory in use; with --trace, --device-logs or --bottlenecks of "
                      "forty emulated points. It opens in a browser and needs no network"),
          {"--bottlenecks", "",
           "Shows what bounds one more iteration of every point: launches, compute, DRAM or "
           "the kernels, for each op, beside the roofline; the stages of the kernels; and "
           "the critical path, with the slack of all other work",
           to(options.bottlenecks)},
          {"--memory", "DIR",
           "Shows what every point allocates. It sets the point up once more, runs one more "
           "iteration, and prints the DRAM and L1 of each phase and who held them at the "
           "peak. DIR/NAME/POINT gets the same as memory.md, each buffer's allocation and "
           "release as buffers.csv, and a picture",
           to(options.outputs.memory)}};
}

OptionList where_results_go(RunOptions& options) {
  options.outputs.files.offers.pictures = true;
  options.outputs.files.page = &options.page;
  options.outputs.files.trace = &options.outputs.trace;
  return joined(
      {output_options(options.outputs,
                      "Writes a file of each form to DIR (default: results, unless -o names files; "
                      "of a single "
                      "point its JSON alone)"),
       {{"--all-rows", "",
         "Shows every row of a table of more than 60 points. Without it the terminal and "
         "NAME.md show the fastest points and a sample of the others. JSON and CSV always "
         "hold all of them",
         to(options.outputs.all_rows)},
        renamed("--plots",
                {"--pictures", "DIR", "Writes the pictures to DIR", to(options.outputs.pictures)}),
        {"--no-progress", "",
         "Hides the line that shows the progress, its rate and what bounds it. The line "
         "appears only if standard error is a terminal",
         to(options.progress, false)}},
       recording_options(options),
       picture_options(options.outputs.canvas)});
}

/// Returns the file of the page: the given one, or index.html in the folder of the results.
std::string place_of_page(const std::string& given, const std::filesystem::path& results) {
  if (given.empty()) return (results / "index.html").string();
  if (given == "-") throw UsageError("--page=- is for analyze and report; try --page=FILE");
  std::error_code ignored;
  if (std::filesystem::is_directory(given, ignored)) {
    throw UsageError(fmt::format("--page={} is a folder; try --page={}", given,
                                 (std::filesystem::path(given) / "index.html").string()));
  }
  return given;
}

}  // namespace

OptionList run_options(RunOptions& options) {
  return joined({grouped("WHAT TO RUN", what_to_run(options)),
                 grouped("HOW TO MEASURE", how_to_measure(options)),
                 grouped("WHERE RESULTS GO", where_results_go(options)),
                 {{"--version", "", "Prints the version, the commit and the compiler", asked()}}});
}

void complete(RunOptions& options) {
  if (options.names.empty()) {
    throw UsageError("no experiment named; try run_experiment list, or run_experiment --help");
  }
  try {
    understand(options);
    options.outputs.files.require_apart({{"--trace", options.outputs.trace}});
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  if (options.page) options.page = place_of_page(*options.page, options.outputs.results);
}

}  // namespace howard::cli
