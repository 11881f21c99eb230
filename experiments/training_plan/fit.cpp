// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/fit.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/bad_request.h"
#include "base/file.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "engines/language/tokens/bpe_tokenizer.h"
#include "engines/language/tokens/corpus.h"
#include "engines/training/config/ttml_recipe.h"
#include "engines/training/examples.h"
#include "engines/training/pictures.h"
#include "engines/training/text_batches.h"
#include "experiments/axes/mesh_shape.h"
#include "experiments/training_plan/plan_search.h"

namespace howard::experiments {
namespace {

constexpr std::int64_t kMostBlocks = 1024;
constexpr std::int64_t kMostTokens = 1 << 24;

using Note = std::function<void(const std::string&)>;

bool has_few_blocks(const training::Recipe& recipe) { return recipe.model.layers <= kMostBlocks; }

bool has_small_batches(const training::Recipe& recipe) {
  return recipe.model.batch <= kMostTokens / recipe.model.sequence;
}

void require_plannable(const training::TtmlSettings& settings, const training::Recipe& recipe) {
  if (!has_few_blocks(recipe)) {
    training::refuse_ttml(settings, "transformer_config.num_blocks",
                          fmt::format("{} blocks", recipe.model.layers),
                          fmt::format("{} at most, to be planned", kMostBlocks));
  }
  if (has_small_batches(recipe)) return;
  training::refuse_ttml(
      settings, "training_config.batch_size",
      fmt::format("{} sequences of {} tokens", recipe.model.batch, recipe.model.sequence),
      fmt::format("{} tokens at most, to be planned; more by gradient_accumulation_steps",
                  kMostTokens),
      fmt::format("--with batch_size={}", kMostTokens / recipe.model.sequence));
}

/// What a plan has to know of the data.
struct PlannedData {
  std::int64_t vocabulary = 0;  ///< The rows of the token table.
  std::int64_t samples = 0;     ///< 0: not known, as the data were not read.
};

PlannedData planned_of(const language::Corpus& corpus, const training::Recipe& recipe) {
  return {corpus.tokenizer->vocabulary(),
          training::sample_count(std::ssize(corpus.tokens), training::sample_width(recipe),
                                 training::form_of(recipe))};
}

std::shared_ptr<const language::Tokenizer> tokenizer_in(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file)) return nullptr;
  return std::make_shared<const language::BpeTokenizer>(read_file(file), file.string());
}

PlannedData planned_examples(const training::TtmlSettings& settings, const training::Recipe& recipe,
                             const std::filesystem::path& tokenizer, const Note& note) {
  const std::string& data = settings.config.training.data_path;
  return planned_of(
      training::read_examples(read_file(data), data,
                              {.characters = settings.config.training.tokenizer_type == "char",
                               .tokenizer = tokenizer_in(tokenizer),
                               .vocabulary = settings.config.transformer.vocab_size.value_or(0),
                               .sequence = recipe.model.sequence,
                               .note = note}),
      recipe);
}

/// Returns the rows of the token table: as many as the text's characters need, or else vocab_size,
/// or what the tokenizer or the tokens in the data say. A text of characters that is not there has
/// TTML's 96, which is noted. Throws Error where nothing says it, and for a file that cannot be
/// read.
PlannedData planned_data(const training::TtmlFiles& files, const training::TtmlSettings& settings,
                         const training::Recipe& recipe, const Note& note) {
  const training::TtmlTraining& training = settings.config.training;
  const std::filesystem::path data = training.data_path;
  const bool is_there = std::filesystem::is_regular_file(data);
  const std::filesystem::path tokenizer =
      files.tokenizer.empty() ? training.tokenizer_path.value_or("") : files.tokenizer.string();
  if (is_there && recipe.examples) return planned_examples(settings, recipe, tokenizer, note);
  if (training.tokenizer_type == "char") {
    if (is_there) return planned_of(language::Corpus(read_file(data)), recipe);
    if (!files.data.empty()) training::require_data(settings, data);
    constexpr std::int64_t kCharacters = 96;
    note(
        fmt::format("{} '{}' is not there: planned with {} tokens, as its characters have; --data "
                    "FILE names it",
                    settings.name_of("training_config.data_path"), data.string(), kCharacters));
    return {kCharacters};
  }
  if (const auto given = training::vocabulary_of(settings.config)) return {*given};
  if (const auto read = tokenizer_in(tokenizer)) return {read->vocabulary()};
  if (is_there) {
    return planned_of(language::read_corpus(read_file(data), data.string(), nullptr, 0), recipe);
  }
  training::refuse_ttml(settings, "transformer_config.vocab_size", "it is not set",
                        "the tokens of the tokenizer", "--with vocab_size=96, or --data FILE");
}

RunSetting setting_of(const FitQuestion& question, const training::TtmlSettings& settings,
                      const Note& note) {
  RunSetting setting{.recipe = training::recipe_of(settings), .engine = question.engine};
  if (settings.trains_mlp()) {
    setting.vocabulary = setting.recipe.model.vocabulary;
    training::limit_to_epochs(setting.recipe, training::kMnistPictures,
                              settings.config.training.num_epochs);
    require_plannable(settings, setting.recipe);
    return setting;
  }
  const PlannedData data = planned_data(question.files, settings, setting.recipe, note);
  setting.vocabulary = data.vocabulary;
  require_plannable(settings, setting.recipe);
  const auto plan = training::mesh_plan_of(settings, setting.recipe, question.mesh);
  for (const std::string& text : training::idle_keys(settings, setting.recipe, plan)) note(text);
  setting.plan = plan.value_or(training::MeshPlan{});
  training::limit_to_epochs(setting.recipe, data.samples, settings.config.training.num_epochs);
  const bool one_step = setting.plan.stages() == 1 && setting.plan.workers == 0;
  if (question.engine != training::Engine::dynamic && !one_step) {
    throw BadRequest({.attempted = "plan this engine",
                      .value = "the run has stages or tiers",
                      .accepted = "--engine for runs without a multihost_config"});
  }
  return setting;
}

nlohmann::ordered_json json_of(const RunPlan& plan) {
  const training::Recipe& recipe = plan.setting.recipe;
  const training::MeshPlan& shared = plan.setting.plan;
  nlohmann::ordered_json json{{"chips", plan.setting.chips()},
                              {"ddp", shared.ddp},
                              {"fsdp", shared.fsdp},
                              {"tp", shared.tp},
                              {"sequence_parallel", shared.sequence_parallel},
                              {"stages", shared.stages()},
                              {"batch_size", recipe.model.batch},
                              {"gradient_accumulation_steps", recipe.accumulate},
                              {"memory_efficient", recipe.model.memory_efficient},
                              {"parameters", plan.parameters},
                              {"fits", plan.fits()}};
  if (plan.active() < plan.parameters) json["active_parameters"] = plan.active();
  if (shared.stages() > 1) {
    json["blocks_per_rank"] = shared.blocks;
    json["schedule"] = mesh::name_of(shared.schedule);
    json["chunks"] = shared.chunks;
  }
  if (shared.workers > 0) {
    json["workers"] = shared.workers;
    json["tiers"] = shared.three_tiers ? 3 : 2;
    json["messages"] = plan.messages;
    json["message_bytes"] = plan.message_bytes.value();
  }
  if (!plan.clash.empty()) {
    json["clash"] = plan.clash;
    return json;
  }
  json["step_ps"] = plan.step.time.ps();
  json["kernels_ps"] = plan.step.compute.ps();
  json["gradient_sums_ps"] = plan.step.sums.ps();
  json["exchanges_ps"] = plan.step.exchange.ps();
  json["bubble_ps"] = plan.step.bubble.ps();
  if (plan.host) json["host_ps"] = plan.host->ps();
  std::map<std::string, std::int64_t> by_op;
  for (const KernelAccount::Part& part : plan.kernels.parts()) by_op[part.name] = part.kernel.ps();
  if (!by_op.empty()) json["kernels_by_op_ps"] = by_op;
  if (plan.launches() > 0) json["launches"] = plan.launches();
  json["dram_peak_bytes"] = plan.peak.value();
  json["dram_capacity_bytes"] = plan.capacity.value();
  if (plan.trace > Bytes()) json["trace_region_bytes"] = plan.trace.value();
  json["tokens_per_second"] = plan.tokens_per_second();
  json["share_of_peak"] = plan.share_of_peak();
  json["mfu"] = plan.mfu();
  for (const auto& [phase, time] : plan.phases) json["phases_ps"][phase] = time.ps();
  if (plan.largest_batch) json["largest_batch"] = *plan.largest_batch;
  if (const auto error = plan.expected_error()) json["expected_error"] = error->share;
  for (const PlanPart& part : plan.parts) {
    json["parts"].push_back({{"name", part.name},
                             {"has", part.share},
                             {"working_ps", part.working.ps()},
                             {"waiting_ps", part.waiting.ps()},
                             {"micro_batches_held", part.micro_batches},
                             {"dram_peak_bytes", part.peak.value()}});
  }
  return json;
}

/// Returns what the completions of GRPO take; nothing for a model that no cache here is for, and
/// for layers that devices divide, which TTML's GRPO does not take.
std::optional<GenerationPlan> generation_of(const training::TtmlSettings& settings,
                                            const RunSetting& setting,
                                            const chip::Profiles& profiles) {
  const training::Recipe& recipe = setting.recipe;
  const training::MeshPlan& shared = setting.plan;
  const bool whole =
      shared.tp == 1 && shared.fsdp == 1 && shared.stages() == 1 && shared.workers == 0;
  if (recipe.model.kind != training::ModelKind::llama || !whole) return std::nullopt;
  const training::TtmlGrpo& grpo = settings.config.grpo;
  models::ModelOptions model = recipe.model.with(vocabulary_rows(setting));
  model.batch = 1;  // which a cache does not look at
  return plan_generation({.model = model,
                          .completions = recipe.model.batch / shared.ddp * recipe.accumulate,
                          .tokens = *grpo.max_completion_length,
                          .temperature = *grpo.temperature},
                         profiles);
}

nlohmann::ordered_json json_of(const GenerationPlan& plan) {
  return {{"completions", plan.question.completions}, {"prompt_tokens", plan.prompt()},
          {"tokens", plan.question.tokens},           {"whole_ps", plan.whole().ps()},
          {"prefill_ps", plan.prefill.ps()},          {"second_token_ps", plan.first.ps()},
          {"last_token_ps", plan.last.ps()},          {"cache_bytes", plan.cache.value()}};
}

}  // namespace

bool is_plannable(const training::Recipe& recipe) {
  return has_few_blocks(recipe) && has_small_batches(recipe);
}

DescribedRun described_run(const std::string& file) {
  const FitQuestion question{.files = {.training = file}};
  training::require_named(question.files);
  const training::TtmlSettings settings =
      training::read_ttml_files(question.files, training::NamedFiles::optional);
  DescribedRun run{.setting = {}, .notes = settings.notes};
  run.setting =
      setting_of(question, settings, [&](const std::string& note) { run.notes.push_back(note); });
  return run;
}

bool names_training(std::string_view word) {
  return word.ends_with(".yaml") || word.ends_with(".yml");
}

harness::Parameters shared_as(const std::string& file, const RunSetting& setting) {
  const training::MeshPlan& plan = setting.plan;
  if (plan.workers > 0 || plan.fsdp > 1) {
    throw Error({.attempted = "explain the step of " + file,
                 .value = plan.workers > 0 ? "workers in tiers share it"
                                           : "chips divide each parameter (enable_fsdp)",
                 .accepted = "DDP, TP and stages",
                 .hint = "run_experiment fit -c " + shell_word(file)});
  }
  const training::Recipe& recipe = setting.recipe;
  harness::Parameters point{{"model", file},
                            {"mesh", mesh_text({plan.ddp, plan.tp, plan.stages()})},
                            {"schedule", std::string(name_of(plan.schedule))},
                            {"batch", std::to_string(recipe.model.batch)},
                            {"micro_batches", std::to_string(recipe.accumulate)},
                            {"loss", recipe.model.sharded_loss ? "sharded" : "gathered"},
                            {"socket", plan.fabric ? "fabric" : "mpi"}};
  if (plan.sequence_parallel) point.emplace_back("sequence", "divided");
  if (plan.chunks > 1) point.emplace_back("chunks", std::to_string(plan.chunks));
  return point;
}

FitAnswer fit(const FitQuestion& question, const FitObserver& observer) {
  const chip::Profiles profiles = chip::load_profiles(question.profiles);
  training::require_named(question.files);
  const training::TtmlSettings settings =
      training::read_ttml_files(question.files, training::NamedFiles::optional);
  FitAnswer answer{.name = settings.config.training.project_name,
                   .chip = profiles.chip.name,
                   .notes = {},
                   .plan = {},
                   .generation = {},
                   .generations = 0,
                   .others = {}};
  const auto note = [&](const std::string& text) {
    answer.notes.push_back(text);
    if (observer.note) observer.note(text);
  };
  for (const std::string& text : settings.notes) note(text);
  const RunSetting setting = setting_of(question, settings, note);
  answer.plan = plan_run(setting, profiles, true);
  if (settings.trains_by_rewards()) {
    answer.generation = generation_of(settings, setting, profiles);
    answer.generations = setting.recipe.schedule.steps / *settings.config.grpo.num_iterations;
  }
  answer.plan.largest_batch = largest_batch(answer.plan, profiles);
  if (observer.planned) observer.planned(answer);
  const bool shares = setting.recipe.model.kind != training::ModelKind::mlp;
  if (question.search && shares)
    answer.others = search_settings(setting, profiles, observer.before_plan);
  return answer;
}

std::string fit_json(const FitAnswer& answer) {
  nlohmann::ordered_json json{{"schema", "howard.fit/2"},
                              {"name", answer.name},
                              {"chip", answer.chip},
                              {"notes", answer.notes},
                              {"run", json_of(answer.plan)}};
  if (answer.generation) json["generation"] = json_of(*answer.generation);
  json["others"] = nlohmann::ordered_json::array();
  for (const RunPlan& other : answer.others) json["others"].push_back(json_of(other));
  return json_dump(json, 2) + "\n";
}

}  // namespace howard::experiments
