// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/train_options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "harness/cli/command_line.h"
#include "harness/cli/picture_options.h"

namespace howard::cli {
namespace {

using training::Engine;

const std::map<std::string, Engine> kEngines{
    {"dynamic", Engine::dynamic}, {"static", Engine::recorded}, {"traced", Engine::traced}};
const std::map<std::string, harness::Backend> kBackends{{"host", harness::Backend::host},
                                                        {"emulated", harness::Backend::emulated}};

void declare(CLI::App& app, TrainOptions& options, bool& resume) {
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("--data", options.data);
  training::for_each_field(options.recipe, [&](std::string_view field, const auto&) {
    const std::string name(field);
    app.add_option_function<std::string>("--" + name, [&options, name](const std::string& value) {
      training::set_field(options.recipe, name, value);
    });
  });
  add_choice(app, "--engine", options.engine, kEngines);
  add_choice(app, "--backend", options.backend, kBackends);
  add_whole(app, "--threads", options.threads, 1, 4096);
  app.add_option("--profile", options.profiles.profiles)->allow_extra_args(false);
  app.add_option("--set", options.profiles.settings)->allow_extra_args(false);
  app.add_option("--checkpoint", options.checkpoint);
  add_whole(app, "--every", options.every, 1, 1'000'000'000);
  app.add_flag("--resume", resume);
  add_whole(app, "--generate", options.generate, 0, 1'000'000'000);
  app.add_option("--prompt", options.prompt);
  add_number(app, "--temperature", options.sampling.temperature, 0, 1e6);
  add_whole(app, "--top-k", options.sampling.top_k, 0, 1'000'000'000);
  add_number(app, "--top-p", options.sampling.top_p, 0, 1);
  app.add_option("--memory", options.memory);
  add_picture_options(app, options.canvas);
  app.add_option("--results", options.results);
  app.add_flag("!--no-progress", options.progress);
}

/// Parses the command line once, starting from the settings of `defaults`.
TrainOptions parse_with(const training::Recipe& defaults, bool& resume, int argc,
                        const char* const* argv) {
  CLI::App app;
  TrainOptions options;
  options.recipe = defaults;
  declare(app, options, resume);
  try {
    parse_command_line(app, argc, argv);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  options.sampling.seed = options.recipe.seed;
  return options;
}

TrainOptions validated(TrainOptions options) {
  require_chip(!options.profiles.is_default(), options.backend == harness::Backend::emulated);
  try {
    training::require_valid(options.recipe);
    training::require_valid(options.sampling);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  return options;
}

void require_no_file(const std::filesystem::path& checkpoint) {
  if (checkpoint.empty() || !std::filesystem::exists(checkpoint)) return;
  throw Error({.attempted = "save the run to " + checkpoint.string(),
               .value = "the file is there already",
               .accepted = "a new file",
               .hint = "--resume to go on from it, or another --checkpoint"});
}

}  // namespace

TrainOptions parse_train_options(int argc, const char* const* argv) {
  bool resume = false;
  TrainOptions options = parse_with({}, resume, argc, argv);
  if (options.help) return options;
  if (options.data.empty()) {
    throw UsageError("no text to train on; try --data data/sonnets.txt");
  }
  if (!resume) {
    require_no_file(options.checkpoint);
    return validated(std::move(options));
  }
  if (options.checkpoint.empty()) throw UsageError("--resume needs --checkpoint FILE");
  training::Checkpoint resumed =
      training::parse_checkpoint(read_file(options.checkpoint), options.checkpoint.string());
  options = parse_with(resumed.recipe, resume, argc, argv);
  options.resumed = std::move(resumed);
  return validated(std::move(options));
}

}  // namespace howard::cli
