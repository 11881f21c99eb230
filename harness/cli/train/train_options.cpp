// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "engines/training/config/ttml_recipe.h"
#include "engines/training/settings.h"
#include "harness/cli/command/program.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/sharing/launched_processes.h"

namespace howard::cli {
namespace {

/// Returns what the files of `train` say, as options.
TrainOptions options_of_files(const TrainOptions& given) {
  training::require_named(given.files);
  TrainOptions options;
  // The command line is taken again after this.
  options.outputs.offers = given.outputs.offers;
  options.outputs.page = given.outputs.page;
  options.settings =
      training::read_ttml_files(given.files, given.print_config ? training::NamedFiles::optional
                                                                : training::NamedFiles::required);
  for (const std::string& note : options.settings.notes) complain("note: {}", note);
  const training::TtmlTraining& training = options.settings.config.training;
  options.recipe = training::recipe_of(options.settings);
  options.name = training.project_name;
  const training::TtmlFiles& files = given.files;
  options.data = training.data_path;
  options.tokenizer = files.tokenizer.empty()
                          ? std::filesystem::path(training.tokenizer_path.value_or(""))
                          : files.tokenizer;
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
  const auto plan = training::mesh_plan_of(options.settings, options.recipe, options.mesh);
  for (const std::string& note : training::idle_keys(options.settings, options.recipe, plan)) {
    complain("note: {}", note);
  }
  if (!plan) return plan;
  const auto refuse = [](bool given, const char* option, const char* why) {
    if (given) throw UsageError(fmt::format("{} is not for these devices: {}", option, why));
  };
  refuse(plan->fabric && options.backend == harness::Backend::emulated, "--backend emulated",
         "chips send through their hosts here; fit plans socket_type: fabric");
  return plan;
}

[[noreturn]] void refuse_place(const std::filesystem::path& place, const char* value,
                               const char* accepted, const char* hint) {
  throw Error({.attempted = "save the run to " + place.string(),
               .value = value,
               .accepted = accepted,
               .hint = hint});
}

/// Throws Error where the files of another run are.
void require_no_run(const TrainOptions& options) {
  if (!options.checkpoint.empty() && std::filesystem::exists(options.checkpoint)) {
    refuse_place(options.checkpoint, "the file is there already", "a new file",
                 "--resume to go on from it, --force to write over it, or another --checkpoint");
  }
  if (!options.results.empty() && std::filesystem::exists(options.results / kTrainResult)) {
    refuse_place(options.results, "it has the results of another run", "a new folder",
                 "--force to write over them, or another --results");
  }
}

/// Throws Error for a file whose folder would be made directly in the root of all files.
void require_folder_of(const std::filesystem::path& file) {
  if (file.empty()) return;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  const auto top = std::ranges::next(folder.begin(), 2, folder.end());
  std::filesystem::path first;
  for (auto part = folder.begin(); part != top; ++part) first /= *part;
  if (std::filesystem::exists(first)) return;
  throw Error({.attempted = "write " + file.string(),
               .value = "there is no folder " + first.string(),
               .accepted = "a file in a folder that is there, or in a new one within it"});
}

/// Throws Error for a file that is a folder, and UsageError for one that two options name: what the
/// first of them wrote would be lost.
void require_files_apart(const TrainOptions& options) {
  std::map<std::filesystem::path, const char*> taken;
  for (const auto& [option, file] :
       {std::pair("--checkpoint", options.checkpoint), std::pair("--export", options.exported),
        std::pair("--page", options.page_file()),
        std::pair("--results", options.results.empty() ? std::filesystem::path()
                                                       : options.results / kTrainResult)}) {
    if (file.empty()) continue;
    const std::string attempted = "write " + file.string();
    if (std::filesystem::is_directory(file)) {
      throw Error({.attempted = attempted,
                   .value = "it is a folder",
                   .accepted = std::string("a file for ") + option});
    }
    const auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(file));
    const auto [other, is_new] = taken.emplace(place, option);
    if (is_new) continue;
    const Error failure({.attempted = attempted,
                         .value = fmt::format("{} and {}", other->second, option),
                         .accepted = "one of them",
                         .hint = "a file of its own for each"});
    throw UsageError(failure.what());
  }
}

/// A run that goes on from a preset's checkpoint has its settings, but for those that the command
/// line gives.
void take_settings_of_checkpoint(TrainOptions& options) {
  if (options.files.preset.empty()) return;
  const training::Recipe preset = training::recipe_of(
      training::read_ttml_files({.preset = options.files.preset}, training::NamedFiles::optional));
  const auto is_given = [&](const training::Setting& setting) {
    const auto place = options.settings.places.find(std::string(setting.key));
    return training::field_text(options.recipe, setting.name) !=
               training::field_text(preset, setting.name) ||
           (place != options.settings.places.end() && place->second.starts_with("--with"));
  };
  training::Recipe recipe = options.resumed->recipe;
  training::for_each_setting(options.recipe, [&](const training::Setting& setting, const auto&) {
    if (!is_given(setting)) return;
    training::set_field(recipe, setting.name, training::field_text(options.recipe, setting.name));
  });
  recipe.model.vocabulary = options.recipe.model.vocabulary;
  options.recipe = recipe;
}

/// A setting of the recipe of which TTML's files say nothing.
Values field_values(TrainOptions& options, std::string_view name) {
  return {[&options, name](std::string_view option, const std::string& value) {
            try {
              training::set_field(options.recipe, std::string(name), value);
            } catch (const Error& failure) {
              refuse_value(option, value, failure.text().accepted);
            }
          },
          {"bfloat16", "float32"}};
}

/// The options that say what a run keeps and writes.
OptionList saving_options(TrainOptions& options) {
  return {
      {"--checkpoint", "FILE",
       "Saves the run to FILE every model_save_interval steps and at its end (default: "
       "checkpoint_dir/NAME.ckpt where the files have a checkpoint_dir)",
       to(options.checkpoint)},
      {"--resume", "",
       "Continues from the checkpoint; after a --preset, with its settings where no option gives "
       "another",
       to(options.resume)},
      {"--force", "", "Takes the place of a run whose checkpoint or results are there",
       to(options.force)},
      {"--every", "N",
       "Saves every N steps, and says then on standard error how far it is, in the place of "
       "model_save_interval; 0: at the end alone",
       whole(options.every, 0, 1'000'000'000)},
      {"--results", "DIR",
       "Writes DIR/train.json (howard.result/1), with every step, DIR/metrics.json, as TTML's "
       "tools/run_models.py makes it, DIR/steps.jsonl, what TTML sends to Weights & Biases, and "
       "the loss as DIR/loss.png and loss.svg",
       to(options.results)},
      page_option(options.page,
                  "Writes a page too, to FILE or to index.html in the folder of --results: loss, "
                  "learning rate and tokens/s of each step, and the memory of the first one"),
      {"--export", "FILE", "Writes the weights at the end as safetensors with Hugging Face's names",
       to(options.exported)},
      {"--memory", "DIR",
       "Writes to DIR what the first step allocates, with who held it at the peak; of several "
       "devices, DIR/device_N for each, and a table of all",
       to(options.memory)}};
}

/// Returns -o and --format. The older options of other commands are not those of this one, of which
/// --export has another sense.
OptionList output_files_options(TrainOptions& options) {
  options.outputs.offers.pictures = true;
  options.outputs.page = &options.page;
  OptionList list = options.outputs.options();
  list.front().also = "--json,--csv,--md";
  return list;
}

}  // namespace

OptionList train_options(TrainOptions& options) {
  const Applies writes{[&] { return options.generate > 0; }, "--generate N"};
  return joined(
      {ttml_options(options.files),
       data_options(options.files),
       saving_options(options),
       output_files_options(options),
       {{"--print-config", "",
         "Shows all settings, defaults included, as one file, and trains nothing",
         to(options.print_config)},
        {"-n, --name", "NAME", "Names the run (default: project_name)", to(options.name)},
        engine_option(options.engine),
        {"--dtype", "TYPE",
         "Sets the type of products and activations: bfloat16 (default, as TTML) or float32",
         field_values(options, "dtype")},
        {"--parameters", "TYPE",
         "Sets the type of the parameters: bfloat16 (default, as TTML) or float32",
         field_values(options, "parameters")},
        backend_option(options.backend),
        {"--generate", "N", "Writes N characters at the end, drawn as eval_config says",
         whole(options.generate, 0, 1'000'000'000)},
        {"--prompt", "TEXT",
         "Begins that text with TEXT (default: the first character of the data)",
         to(options.prompt), writes},
        threads_option(options.threads,
                       "Uses N threads of the host (default: all that the process may use)"),
        {"--no-progress", "", "Hides the line that shows the progress",
         to(options.progress, false)}},
       sampling_options(options.sampling,
                        "Divides the logits by T (default: as eval_config says, or 1)", writes),
       mesh_options(options.mesh),
       {binding_option(options.binding)},
       picture_options(options.canvas),
       chip_options(options.profiles)});
}

void complete(TrainOptions& options, const Given& given) {
  options = options_of_files(options);
  given.take();
  if (options.print_config) return;
  given.require_applicable();
  options.sampling.seed = options.recipe.seed;
  require_used_tokenizer(options);
  training::require_data(options.settings, options.data);
  options.plan = plan_of(options);
  if (options.page == "" && options.results.empty()) {
    throw UsageError("--page needs --results DIR, or a place: --page=FILE");
  }
  require_chip(!options.profiles.is_default(), options.backend == harness::Backend::emulated);
  try {
    training::require_valid(options.recipe);
    language::require_valid(options.sampling);
  } catch (const Error& failure) {
    throw UsageError(failure.what());
  }
  for (const auto& file : {options.checkpoint, options.exported, options.page_file()}) {
    require_folder_of(file);
  }
  require_files_apart(options);
  options.outputs.require_apart({{"--checkpoint", options.checkpoint.string()},
                                 {"--export", options.exported.string()},
                                 {"--page", options.page_file().string()}});
  if (options.settings.trains_mlp() && (options.generate > 0 || !options.exported.empty())) {
    throw UsageError("--generate and --export are for language models, and this file has an mlp");
  }
  if (options.recipe.model.kind == training::ModelKind::deepseek && !options.exported.empty()) {
    training::refuse_ttml(options.settings, "transformer_config.model_type",
                          "'deepseek' with --export", "gpt2, llama or qwen3 with --export",
                          "--checkpoint FILE, which has the weights and the biases of the experts");
  }
  if (options.recipe.model.lora.rank > 0 && !options.exported.empty()) {
    training::refuse_ttml(options.settings, "lora_config.rank",
                          fmt::format("{} with --export", options.recipe.model.lora.rank),
                          "0 with --export",
                          "--checkpoint FILE, which has the weights and the adapters");
  }
  if (options.force && options.resume) throw UsageError("--force and --resume exclude each other");
  if (launched_processes() == 1) options.places = taken_places(options);
  if (!options.resume && !options.force) require_no_run(options);
  if (!options.checkpoint.empty()) remove_leftovers(options.checkpoint);
  if (!options.resume) return;
  if (options.checkpoint.empty()) throw UsageError("--resume needs --checkpoint FILE");
  options.resumed =
      training::parse_checkpoint(read_file(options.checkpoint), options.checkpoint.string());
  take_settings_of_checkpoint(options);
}

std::vector<std::shared_ptr<const FileLock>> taken_places(const TrainOptions& options) {
  std::vector<std::shared_ptr<const FileLock>> places;
  const auto take = [&](const std::filesystem::path& place, const std::filesystem::path& file,
                        const char* hint) {
    if (place.empty()) return;
    require_writable_folder(std::filesystem::absolute(file).parent_path());
    places.push_back(FileLock::take(file));
    if (places.back()) return;
    refuse_place(place, "another run that has not ended writes there", "a place of this run alone",
                 hint);
  };
  std::filesystem::path beside = options.checkpoint;
  take(options.checkpoint, beside += ".lock", "another --checkpoint, or wait for the other run");
  take(options.results, options.results / "train.lock",
       "another --results, or wait for the other run");
  return places;
}

}  // namespace howard::cli
