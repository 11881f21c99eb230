// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/cli/given_options.h"
#include "harness/cli/picture_options.h"
#include "harness/cli/profile_options.h"
#include "harness/cli/table_options.h"
#include "harness/environment.h"

namespace howard::cli {

namespace {

harness::Backend parse_backend(const std::string& word) {
  for (const auto backend : {harness::Backend::emulated, harness::Backend::host}) {
    if (word == name_of(backend)) return backend;
  }
  throw Error({.attempted = "read option --backend",
               .value = "'" + word + "'",
               .accepted = "emulated, host, emulated,host"});
}

/// Holds what CLI11 reads as plain text or numbers, before it is understood.
struct RawOptions {
  std::vector<std::string> axes;
  std::string backends;
  int repetitions = 0;  ///< 0: not given.
  double min_time = 0;  ///< 0: not given.
  bool no_progress = false;
};

void declare(CLI::App& app, RawOptions& raw, Options& options) {
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_flag("--version", options.version);
  app.add_option("names", options.names);
  app.add_option("-a,--axis", raw.axes)->allow_extra_args(false);
  app.add_option("--backend", raw.backends, "emulated,host");
  app.add_option("--filter", options.plan.filter);
  app.add_flag("--quick", options.plan.quick);
  app.add_flag("--dry-run", options.dry_run);
  add_whole(app, "--repetitions", raw.repetitions, harness::kRepetitions);
  add_number(app, "--min-time", raw.min_time, harness::kSecondsOfARepetition.least,
             harness::kSecondsOfARepetition.most);
  add_whole(app, "--threads", options.threads, harness::kThreads);
  app.add_flag("!--no-tuning", options.tuning);
  app.add_flag("!--no-binding", options.binding);
  add_whole(app, "--seed", options.seed, 0, std::numeric_limits<std::uint64_t>::max());
  add_profile_options(app, options.profiles);
  add_table_options(app, options);
  app.add_option("--times", options.times);
  app.add_option("--plots", options.plots);
  add_picture_options(app, options.canvas);
  app.add_option("--trace", options.trace);
  app.add_option("--device-logs", options.device_logs);
  app.add_flag("--bottlenecks", options.bottlenecks);
  app.add_flag("--page", options.page);
  app.add_option("--memory", options.memory);
  app.add_flag("--all-rows", options.all_rows);
  app.add_flag("--no-progress", raw.no_progress);
}

void understand(const RawOptions& raw, Options& options) {
  options.plan.overrides = harness::parse_axis_overrides(raw.axes);
  if (!raw.backends.empty()) {
    options.plan.backends.clear();
    for (const std::string& word : split(raw.backends, ',')) {
      const harness::Backend backend = parse_backend(word);
      if (std::ranges::find(options.plan.backends, backend) == options.plan.backends.end()) {
        options.plan.backends.push_back(backend);
      }
    }
  }
  if (options.plan.quick) options.wall = {.repetitions = 3, .min_time = 0.02};
  if (raw.repetitions > 0) options.wall.repetitions = raw.repetitions;
  if (raw.min_time > 0) options.wall.min_time = raw.min_time;
  options.progress = !raw.no_progress;
}

}  // namespace

void require_one_text_in_each_place(const Options& options) {
  std::map<std::filesystem::path, std::vector<std::string>> places;
  for (const auto& [name, file] :
       {std::pair("--json", options.json), std::pair("--csv", options.csv),
        std::pair("--md", options.markdown), std::pair("--times", options.times),
        std::pair("--trace", options.trace)}) {
    std::error_code ignored;
    // /dev/null takes any number of texts.
    const bool replaced = !std::filesystem::is_other(file, ignored);
    if (file.empty() || !replaced) continue;
    const std::filesystem::path path(file);
    const auto place =
        file == "-" ? path
                    : std::filesystem::weakly_canonical(std::filesystem::absolute(path), ignored);
    places[place].emplace_back(name);
  }
  for (const auto& [place, names] : places) {
    if (names.size() < 2) continue;
    const Error failure(
        {.attempted = place == "-" ? "write to standard output" : "write " + place.string(),
         .value = join(names, " and "),
         .accepted = "one of them",
         .hint = "a file of its own for each"});
    throw UsageError(failure.what());
  }
}

std::string version_text() {
  const harness::RunContext context = harness::describe_environment();
  return "howard " + context.version + " (" + context.git + ", " + context.compiler + ", " +
         context.build_type + ")\n";
}

Options parse_options(int argc, const char* const* argv) {
  CLI::App app;
  RawOptions raw;
  Options options;
  declare(app, raw, options);
  parse_command_line(app, argc, argv);
  options.given = given_options(app);
  if (options.help || options.version) return options;
  if (options.names.empty()) {
    throw UsageError("no experiment named; try run_experiment list, or run_experiment --help");
  }
  try {
    understand(raw, options);
    require_one_text_in_each_place(options);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  return options;
}

}  // namespace howard::cli
