// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "engines/training/config/ttml_recipe.h"
#include "experiments/training_plan/plan_search.h"
#include "experiments/training_plan/plan_tables.h"
#include "experiments/training_plan/run_plan.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/program.h"
#include "harness/cli/command/shared_options.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/memory_watch.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/cli/train/model_options.h"
#include "harness/cli/train/train_corpus.h"
#include "harness/cli/train/train_files.h"
#include "reports/findings/memory_report.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {
namespace {

using experiments::PlanPart;
using experiments::RunPlan;
using experiments::RunSetting;

struct FitOptions {
  TtmlFiles files;
  chip::ProfileChoice profiles;
  std::string json;
  std::filesystem::path results, memory;  ///< Folders; empty: not wanted.
  training::Engine engine = training::Engine::dynamic;
  reports::Canvas canvas;
  MeshSettings mesh;
  bool search = true;
  ColorMode color = ColorMode::automatic;
};

OptionList fit_options(FitOptions& options) {
  return joined({ttml_options(options.files),
                 data_options(options.files),
                 {engine_option(options.engine)},
                 mesh_options(options.mesh),
                 {{"--results", "DIR", "Writes DIR/fit.json, of the schema howard.fit/1",
                   to(options.results)},
                  {"--memory", "DIR",
                   "Writes to DIR what the set-up and the first step allocate, with who held it at "
                   "the peak",
                   to(options.memory)},
                  {"--no-search", "", "Says what the files ask for, and looks for nothing else",
                   to(options.search, false)},
                  {"--json", "FILE",
                   "Writes JSON of the schema howard.fit/1 too; \"-\" is standard output and "
                   "replaces the tables there",
                   to(options.json)},
                  color_option(options.color)},
                 picture_options(options.canvas),
                 chip_options(options.profiles)});
}

/// Throws Error for sizes whose plan would take longer than anybody waits: TTML's largest model has
/// 126 blocks, and no chip holds a batch of so many tokens.
void require_plannable(const training::TtmlSettings& settings, const RunSetting& setting) {
  constexpr std::int64_t kMostBlocks = 1024;
  constexpr std::int64_t kMostTokens = 1 << 24;
  const training::Recipe& recipe = setting.recipe;
  if (recipe.model.layers > kMostBlocks) {
    training::refuse_ttml(settings, "transformer_config.num_blocks",
                          fmt::format("{} blocks", recipe.model.layers),
                          fmt::format("{} at most, to be planned", kMostBlocks));
  }
  if (recipe.model.batch <= kMostTokens / recipe.model.sequence) return;
  training::refuse_ttml(
      settings, "training_config.batch_size",
      fmt::format("{} sequences of {} tokens", recipe.model.batch, recipe.model.sequence),
      fmt::format("{} tokens at most, to be planned; more by gradient_accumulation_steps",
                  kMostTokens));
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
  json["step_ps"] = plan.step.ps();
  json["kernels_ps"] = plan.kernels.ps();
  json["gradient_sums_ps"] = plan.sums.ps();
  json["exchanges_ps"] = plan.exchanges.ps();
  json["bubble_ps"] = plan.bubble.ps();
  for (const auto& [op, time] : plan.kernels_by_op) json["kernels_by_op_ps"][op] = time.ps();
  if (plan.launches > 0) json["launches"] = plan.launches;
  json["dram_peak_bytes"] = plan.peak.value();
  json["dram_capacity_bytes"] = plan.capacity.value();
  if (plan.trace > Bytes()) json["trace_region_bytes"] = plan.trace.value();
  json["tokens_per_second"] = plan.tokens_per_second();
  json["share_of_peak"] = plan.share_of_peak();
  json["mfu"] = plan.mfu();
  for (const auto& [phase, time] : plan.phases) json["phases_ps"][phase] = time.ps();
  if (plan.largest_batch) json["largest_batch"] = *plan.largest_batch;
  if (plan.expected_error) json["expected_error"] = *plan.expected_error;
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

void write_json(const std::filesystem::path& file, const RunPlan& plan,
                const std::vector<RunPlan>& others) {
  nlohmann::ordered_json json{{"schema", "howard.fit/1"}, {"run", json_of(plan)}};
  json["others"] = nlohmann::ordered_json::array();
  for (const RunPlan& other : others) json["others"].push_back(json_of(other));
  write_file(file, json.dump(2) + "\n");
}

/// Returns the run that the files ask for. Throws Error for what cannot be planned.
RunSetting setting_of(const FitOptions& options, const training::TtmlSettings& settings) {
  RunSetting setting{.recipe = training::recipe_of(settings), .engine = options.engine};
  setting.vocabulary = planned_vocabulary(options.files, settings);
  require_plannable(settings, setting);
  setting.plan = shared_plan(settings, setting.recipe, options.mesh).value_or(training::MeshPlan{});
  const bool one_step = setting.plan.stages() == 1 && setting.plan.workers == 0;
  if (options.engine != training::Engine::dynamic && !one_step) {
    throw UsageError("--engine is for runs without the stages or tiers of a multihost_config");
  }
  return setting;
}

void print_tables(const RunPlan& plan, const std::vector<RunPlan>& others, ColorMode color) {
  std::vector<reports::Table> tables;
  if (!plan.parts.empty()) tables.push_back(experiments::parts_table(plan));
  constexpr std::size_t kMostHolders = 6;
  if (plan.memory) {
    tables.push_back(reports::memory_phases_table(*plan.memory));
    tables.push_back(reports::memory_holders_table(*plan.memory, kMostHolders));
  }
  if (!others.empty()) tables.push_back(experiments::settings_table(others));
  for (const reports::Table& table : tables) {
    fmt::print("\n{}", reports::terminal_table(table, terminal_style(STDOUT_FILENO, color)));
  }
}

/// Says how to ask for the fastest run that fits: on as many chips, if this one does not fit, or
/// else on any.
void print_advice(const RunPlan& plan, const std::vector<RunPlan>& others) {
  if (others.empty()) return;
  const auto same = std::ranges::find_if(others, [&](const RunPlan& other) {
    return other.fits() && other.setting.chips() == plan.setting.chips();
  });
  const auto any =
      !plan.fits() && same != others.end() ? same : std::ranges::find_if(others, &RunPlan::fits);
  if (any == others.end()) {
    fmt::print("\nnothing of this fits: a smaller model, shorter sequences or more chips would\n");
    return;
  }
  fmt::print("\n{} ({} chip{}): {}\n", plan.fits() ? "the fastest" : "what would fit",
             any->setting.chips(), any->setting.chips() == 1 ? "" : "s",
             experiments::options_text(*any));
}

int fit(const FitOptions& options) {
  require_named(options.files);
  const chip::Profiles profiles = read_settings(options.profiles, chip::load_profiles);
  end_on_signals();
  const training::TtmlSettings settings = read_ttml_files(options.files, NamedFiles::optional);
  for (const std::string& note : settings.notes) complain("note: {}", note);
  for (const auto& folder : {options.results, options.memory}) {
    if (!folder.empty()) require_writable_folder(folder);
  }
  const RunSetting setting = setting_of(options, settings);
  RunPlan plan = experiments::plan_run(setting, profiles, true);
  plan.largest_batch = experiments::largest_batch(plan, profiles);
  const bool to_stdout = options.json == "-";
  if (!to_stdout) {
    fmt::print("{}", experiments::plan_text(plan, settings.config.training.project_name,
                                            profiles.chip.name));
  }
  std::vector<RunPlan> others;
  if (options.search) others = experiments::search_settings(setting, profiles);
  if (!to_stdout) {
    print_tables(plan, others, options.color);
    print_advice(plan, others);
  }
  if (!options.json.empty()) write_json(options.json, plan, others);
  if (!options.results.empty()) write_json(options.results / "fit.json", plan, others);
  if (!options.memory.empty() && plan.memory) {
    reports::Canvas canvas = options.canvas;
    canvas.folder = options.memory;
    write_memory(*plan.memory, memory_tables(*plan.memory, "fit"), "fit", canvas);
  }
  return plan.clash.empty() ? kOk : kFailed;
}

}  // namespace

const Command kFit{
    .name = "fit",
    .summary = "say what a training run would take, and which settings are faster",
    .usage = {"-c FILE [--model FILE] [--device FILE] [--multihost FILE] [OPTIONS]"},
    .text =
        {{"",
          "It makes two updates on an emulated chip whose DRAM has no end, with TTML's engine and "
          "its order of calls. It says the peak of DRAM on each chip by phase and who holds it, "
          "how much that is over what a chip has, whether a kernel's circular buffers fit L1, the "
          "time of a step, what it consists of and how far such times were off, tokens per second, "
          "the share of the chips' peak, and the trace region that a capture would take. Then it "
          "looks for settings that make the same update faster: other batches with more or less "
          "accumulation, blocks that are kept or run again (runner_type memory_efficient), and 1, "
          "2, 4, 8 and 32 chips that divide the batch (DDP), the weights (TP), the blocks (PP), or "
          "several of these, or workers in tiers. If the run does not fit, the last line has the "
          "options of one that does."},
         {"",
          "Gradients are summed over chips after the backward pass, a sum for each parameter; the "
          "chips that share weights sum activations and their gradients in each block and gather "
          "the logits: as TTML does it, at the published rates of tt-metal's collectives over a "
          "line of chips. What is beyond one chip has no published figure to be compared with."},
         {"",
          "A multihost_config with a pipeline_parallel_config is a pipeline: a table says for each "
          "stage how long it works and waits (the bubble), how many micro-batches it holds at "
          "once, and its DRAM. The micro-batches are those of gradient_accumulation_steps. The "
          "search looks at TTML's order, at 1F1B, and at the best of 1F1B in two chunks; GPipe "
          "takes about the time of 1F1B and never less memory. A multihost_config without it is "
          "tiers: what each rank does comes after what the one before it does. Transfers "
          "between chips and their hosts take time, and so does the network between hosts, of "
          "which "
          "no figure is published (--set host.message=10GB/s)."},
         {"", "At most 1024 blocks and batches of 2^24 tokens are planned."}},
    .examples =
        {"run_experiment fit -c data/ttml/train_tinyllama.yaml",
         "run_experiment fit -c data/ttml/train_tinyllama.yaml --device data/ttml/loudbox_ddp.yaml",
         "run_experiment fit -c data/ttml/train_tinyllama.yaml --schedule 1f1b \\\n  --multihost "
         "data/ttml/tinyllama_pipeline_8.yaml",
         "run_experiment fit -c training.yaml --model llama.yaml --with batch_size=4 --json "
         "fit.json"},
    .begin = begin<fit_options, fit>};

}  // namespace howard::cli
