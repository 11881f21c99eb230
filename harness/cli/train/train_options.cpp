// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "engines/training/config/ttml_recipe.h"
#include "engines/training/settings.h"
#include "harness/cli/command_line.h"
#include "harness/cli/given_options.h"
#include "harness/cli/picture_options.h"
#include "harness/cli/profile_options.h"
#include "harness/cli/train/mesh_options.h"
#include "harness/cli/train/train.h"
#include "harness/cli/train/train_use.h"
#include "harness/measurement.h"

namespace howard::cli {
namespace {

using training::Engine;

const std::map<std::string, Engine> kEngines{
    {"dynamic", Engine::dynamic}, {"static", Engine::static_step}, {"traced", Engine::traced}};
const std::map<std::string, harness::Backend> kBackends{{"host", harness::Backend::host},
                                                        {"emulated", harness::Backend::emulated}};

/// Says whether a setting of a recipe is an option: all of the short form, and what files of TTML
/// do not say.
bool is_option(std::string_view field, bool of_files) {
  return !of_files || field == "dtype" || field == "parameters";
}

void declare_files(CLI::App& app, TrainOptions& options) {
  app.add_option("-c,--config", options.files.training);
  app.add_option("--model", options.files.model);
  app.add_option("--device", options.files.device);
  app.add_option("--multihost", options.files.multihost);
  app.add_option("--with", options.files.keys)->allow_extra_args(false);
  app.add_option("-n,--name", options.name);
  app.add_flag("--print-config", options.print_config);
  app.add_option("--tokenizer", options.tokenizer);
  add_mesh_options(app, options.schedule, options.chunks, options.tiers);
}

void declare(CLI::App& app, TrainOptions& options, bool& resume) {
  const bool of_files = options.verb == kTrainVerb;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  if (of_files) declare_files(app, options);
  app.add_option("--data", options.data);
  training::for_each_setting(options.recipe, [&](const training::Setting& setting, const auto&) {
    if (!is_option(setting.name, of_files)) return;
    const std::string name(setting.name);
    app.add_option_function<std::string>("--" + name, [&options, name](const std::string& value) {
      training::set_field(options.recipe, name, value);
    });
  });
  add_choice(app, "--engine", options.engine, kEngines);
  add_choice(app, "--backend", options.backend, kBackends);
  add_whole(app, "--threads", options.threads, harness::kThreads);
  app.add_flag("!--no-tuning", options.tuning);
  app.add_flag("!--no-binding", options.binding);
  add_profile_options(app, options.profiles);
  app.add_option("--checkpoint", options.checkpoint);
  add_whole(app, "--every", options.every, 1, 1'000'000'000);
  app.add_flag("--resume", resume);
  add_whole(app, "--generate", options.generate, 0, 1'000'000'000);
  app.add_option("--prompt", options.prompt);
  add_number(app, "--temperature", options.sampling.temperature, 0, 1e6);
  add_whole(app, "--top-k", options.sampling.top_k, 0, 1'000'000'000);
  add_number(app, "--top-p", options.sampling.top_p, 0, 1);
  add_number(app, "--repetition-penalty", options.sampling.repetition_penalty, 0, 1e6);
  app.add_option("--export", options.exported);
  app.add_option("--memory", options.memory);
  add_picture_options(app, options.canvas);
  app.add_option("--results", options.results);
  app.add_flag("--page", options.page);
  app.add_flag("!--no-progress", options.progress);
}

/// Parses the command line once, over `options`.
TrainOptions parse_over(TrainOptions options, bool& resume, int argc, const char* const* argv) {
  CLI::App app;
  declare(app, options, resume);
  try {
    parse_command_line(app, argc, argv);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  options.sampling.seed = options.recipe.seed;
  options.given = given_options(app);
  return options;
}

/// Returns what the files of `train` say, as options.
TrainOptions options_of_files(const TrainOptions& given) {
  if (given.files.training.empty()) {
    throw UsageError("no training file; try -c training_configs/training.yaml");
  }
  TrainOptions options;
  options.verb = given.verb;
  options.settings = read_ttml_files(
      given.files, given.print_config ? NamedFiles::optional : NamedFiles::required);
  const training::TtmlTraining& training = options.settings.config.training;
  options.recipe = training::recipe_of(options.settings);
  options.engine = Engine::dynamic;  // TTML's engine
  options.name = training.project_name;
  options.data = training.data_path;
  options.tokenizer = training.tokenizer_path.value_or("");
  options.epochs = training.num_epochs;
  options.eval_every = training.eval_every.value_or(0);
  options.eval_batch =
      training.validation_batch_size.value_or(std::max(training.batch_size / 2, std::int64_t{1}));
  options.weights = options.settings.config.transformer.model_path.value_or("");
  options.every = training.model_save_interval;
  const training::TtmlEvaluation& evaluation = options.settings.config.evaluation;
  options.sampling = {.temperature = evaluation.temperature,
                      .top_k = static_cast<int>(std::max(evaluation.top_k, std::int64_t{0})),
                      .top_p = evaluation.top_p,
                      .repetition_penalty = evaluation.repetition_penalty};
  if (training.checkpoint_dir) {
    const std::string& name = given.name.empty() ? options.name : given.name;
    options.checkpoint =
        std::filesystem::path(*training.checkpoint_dir) / (file_name_of(name) + ".ckpt");
  }
  return options;
}

/// Throws UsageError for a tokenizer file when the data are characters.
void require_used_tokenizer(const TrainOptions& options) {
  const training::TtmlTraining& training = options.settings.config.training;
  if (options.tokenizer.empty() || training.tokenizer_type == "bpe") return;
  training::refuse_ttml(options.settings, "training_config.tokenizer_type",
                        "'char' beside the tokenizer " + options.tokenizer.string(), "bpe",
                        "--with tokenizer_type=bpe");
}

/// Returns how several devices share the run. Throws Error for what they cannot do.
std::optional<training::MeshPlan> plan_of(const TrainOptions& options) {
  const auto plan = shared_plan(options.settings, options.recipe, options.schedule, options.chunks,
                                options.tiers);
  if (!plan) return plan;
  const auto refuse = [](bool given, const char* option, const char* why) {
    if (given) throw UsageError(fmt::format("{} is not for these devices: {}", option, why));
  };
  refuse(plan->fabric && options.backend == harness::Backend::emulated, "--backend emulated",
         "chips send through their hosts here; fit plans socket_type: fabric");
  return plan;
}

TrainOptions validated(TrainOptions options) {
  require_chip(!options.profiles.is_default(), options.backend == harness::Backend::emulated);
  try {
    training::require_valid(options.recipe);
    language::require_valid(options.sampling);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  require_used_options(options);
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
  TrainOptions defaults;
  defaults.verb = argv[0];
  TrainOptions options = parse_over(defaults, resume, argc, argv);
  if (options.help) return options;
  if (options.verb == kTrainVerb) {
    defaults = options_of_files(options);
    options = parse_over(defaults, resume, argc, argv);
    if (options.print_config) return options;
    require_used_tokenizer(options);
    require_data(options.settings, options.data);
    options.plan = plan_of(options);
  }
  if (options.page && options.results.empty()) throw UsageError("--page needs --results DIR");
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
  // The files of `train` say all of it; the trainer compares.
  if (options.verb != kTrainVerb) {
    defaults.recipe = resumed.recipe;
    options = parse_over(defaults, resume, argc, argv);
  }
  options.resumed = std::move(resumed);
  return validated(std::move(options));
}

}  // namespace howard::cli
