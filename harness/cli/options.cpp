// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/cli/command_line.h"
#include "harness/cli/manual.h"
#include "harness/environment.h"

namespace howard::cli {

extern const std::string_view kHelp;  // help.md, compiled in by the build

namespace {

std::string version_text() {
  const harness::RunContext context = harness::describe_environment();
  return "howard " + context.version + " (" + context.git + ", " + context.compiler + ", " +
         context.build_type + ")\n";
}

harness::Backend parse_backend(const std::string& word) {
  for (const auto backend : {harness::Backend::emulated, harness::Backend::host}) {
    if (word == name_of(backend)) return backend;
  }
  throw Error({.attempted = "read option --backend",
               .value = "'" + word + "'",
               .accepted = "emulated, host, emulated,host",
               .hint = ""});
}

/// What CLI11 reads as plain text or numbers, before it is understood.
struct RawOptions {
  std::vector<std::string> axes;
  std::string backends;
  std::optional<int> repetitions;
  std::optional<double> min_time;
  bool no_progress = false;
  bool help = false;
  bool version = false;
};

void declare(CLI::App& app, RawOptions& raw, Options& options) {
  app.set_help_flag();
  app.add_flag("-h,--help", raw.help);
  app.add_flag("--version", raw.version);
  app.add_option("names", options.names);
  app.add_option("-a,--axis", raw.axes)->allow_extra_args(false);
  app.add_option("--backend", raw.backends, "emulated,host");
  app.add_option("--filter", options.plan.filter);
  app.add_flag("--quick", options.plan.quick);
  app.add_flag("--dry-run", options.dry_run);
  app.add_option("--repetitions", raw.repetitions)->check(CLI::Range(1, 1000));
  app.add_option("--min-time", raw.min_time)->check(number_within(1e-6, 3600));
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 4096));
  app.add_option("--seed", options.seed);
  app.add_option("--profile", options.profiles.profiles)->allow_extra_args(false);
  app.add_option("--set", options.profiles.settings)->allow_extra_args(false);
  app.add_option("--results", options.results);
  app.add_option("--json", options.json);
  app.add_option("--csv", options.csv);
  app.add_option("--md", options.markdown);
  app.add_option("--times", options.times);
  app.add_option("--plots", options.plots);
  app.add_option("--trace", options.trace);
  app.add_option("--device-logs", options.device_logs);
  app.add_flag("--bottlenecks", options.bottlenecks);
  app.add_option("--memory", options.memory);
  add_color_option(app, options.color);
  app.add_flag("--no-progress", raw.no_progress);
}

/// Two texts in one stream are none that a program can read.
void require_one_on_standard_output(const Options& options) {
  std::vector<std::string> names;
  for (const auto& [name, file] :
       {std::pair("--json", options.json), std::pair("--csv", options.csv),
        std::pair("--md", options.markdown), std::pair("--times", options.times),
        std::pair("--trace", options.trace)}) {
    if (file == "-") names.emplace_back(name);
  }
  if (names.size() < 2) return;
  throw Error({.attempted = "write to standard output",
               .value = join(names, " and "),
               .accepted = "one of them",
               .hint = "a file for the other"});
}

void understand(const RawOptions& raw, Options& options) {
  for (const std::string& axis : raw.axes) {
    options.plan.overrides.push_back(harness::parse_axis_override(axis));
  }
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
  options.wall.repetitions = raw.repetitions.value_or(options.wall.repetitions);
  options.wall.min_time = raw.min_time.value_or(options.wall.min_time);
  options.progress = !raw.no_progress;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  CLI::App app;
  RawOptions raw;
  Options options;
  declare(app, raw, options);
  parse_command_line(app, argc, argv);
  if (raw.help) options.answer = manual(kHelp);
  if (raw.version) options.answer = version_text();
  if (options.answer) return options;
  if (options.names.empty()) {
    throw UsageError("no experiment named; try run_experiment list, or run_experiment --help");
  }
  try {
    understand(raw, options);
    require_one_on_standard_output(options);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  return options;
}

}  // namespace howard::cli
