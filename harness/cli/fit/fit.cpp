// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/fit/fit.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engines/training/config/ttml_recipe.h"
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/fit/fit_search.h"
#include "harness/cli/fit/run_plan.h"
#include "harness/cli/profile_options.h"
#include "harness/cli/terminal/terminal.h"
#include "harness/cli/train/train_files.h"
#include "reports/findings/memory_report.h"
#include "reports/tables/format.h"
#include "reports/tables/terminal_table.h"

namespace howard::cli {

extern const std::string_view kFitHelp;  // the build compiles fit_help.md in

namespace {

struct FitOptions {
  TtmlFiles files;
  wormhole::ProfileChoice profiles;
  std::string json;
  bool search = true;
  bool help = false;
  ColorMode color = ColorMode::automatic;
};

FitOptions fit_options(int argc, const char* const* argv) {
  CLI::App app;
  FitOptions options;
  app.set_help_flag();
  app.add_flag("-h,--help", options.help);
  app.add_option("-c,--config", options.files.training);
  app.add_option("--model", options.files.model);
  app.add_option("--device", options.files.device);
  app.add_option("--multihost", options.files.multihost);
  app.add_option("--with", options.files.keys)->allow_extra_args(false);
  add_profile_options(app, options.profiles);
  app.add_option("--json", options.json);
  app.add_flag("!--no-search", options.search);
  add_color_option(app, options.color);
  parse_command_line(app, argc, argv);
  if (!options.help && options.files.training.empty()) {
    throw UsageError("no training file; try -c training_configs/training.yaml");
  }
  return options;
}

/// Returns how the chips of a run's mesh share it. Throws Error for what cannot be planned.
RunSetting mesh_of(const training::TtmlSettings& settings, RunSetting setting) {
  const training::TtmlDevices& devices = settings.config.devices;
  const std::vector<std::int64_t>& shape = devices.mesh_shape;
  const auto require = [&](bool holds, const char* key, const std::string& value,
                           const std::string& accepted) {
    if (!holds) training::refuse_ttml(settings, key, value, accepted);
  };
  for (const auto& [key, on] : {std::pair("device_config.enable_cp", devices.enable_cp),
                                {"device_config.enable_sp", devices.enable_sp},
                                {"device_config.enable_pp", devices.enable_pp},
                                {"multihost_config.enabled", settings.config.multihost.enabled}}) {
    require(!on, key, "true", "false: meshes are planned with enable_ddp and enable_tp");
  }
  const bool is_mesh = shape.size() == 2 && shape[0] >= 1 && shape[1] >= 1;
  require(is_mesh && shape[0] * shape[1] <= 32, "device_config.mesh_shape",
          fmt::format("[{}]", fmt::join(shape, ", ")), "[rows, columns] of 32 chips at most");
  const std::int64_t chips = shape[0] * shape[1];
  require(chips == 1 || devices.enable_ddp || devices.enable_tp, "device_config.mesh_shape",
          fmt::format("{} chips that share nothing", chips), "enable_ddp or enable_tp");
  if (devices.enable_ddp && devices.enable_tp) {
    setting.ddp = shape[0];
    setting.tp = static_cast<int>(shape[1]);
  } else if (devices.enable_tp) {
    setting.tp = static_cast<int>(chips);
  } else {
    setting.ddp = chips;
  }
  require(setting.recipe.batch % setting.ddp == 0, "training_config.batch_size",
          fmt::format("{} sequences on {} groups of chips", setting.recipe.batch, setting.ddp),
          "a multiple of them");
  // TTML rounds up to tiles of each device.
  const std::int64_t rows = kTileSide * setting.tp;
  setting.vocabulary = ceil_div(setting.vocabulary, rows) * rows;
  return setting;
}

/// Throws Error for sizes whose plan would take longer than anybody waits: TTML's largest model has
/// 126 blocks, and no chip holds a batch of so many tokens.
void require_plannable(const training::TtmlSettings& settings, const RunSetting& setting) {
  constexpr std::int64_t kMostBlocks = 1024;
  constexpr std::int64_t kMostTokens = 1 << 24;
  const training::Recipe& recipe = setting.recipe;
  if (recipe.layers > kMostBlocks) {
    training::refuse_ttml(settings, "transformer_config.num_blocks",
                          fmt::format("{} blocks", recipe.layers),
                          fmt::format("{} at most, to be planned", kMostBlocks));
  }
  if (recipe.batch <= kMostTokens / recipe.sequence) return;
  training::refuse_ttml(
      settings, "training_config.batch_size",
      fmt::format("{} sequences of {} tokens", recipe.batch, recipe.sequence),
      fmt::format("{} tokens at most, to be planned; more by gradient_accumulation_steps",
                  kMostTokens));
}

std::string gibibytes(Bytes size) {
  return fmt::format("{:.2f} GiB", static_cast<double>(size.value()) / (1 << 30));
}

std::string time_text(SimTime time) { return reports::format_quantity(time.seconds(), "s"); }

std::string mesh_text(const RunSetting& setting) {
  if (setting.chips() == 1) return "a chip";
  return fmt::format("{} chips, DDP {} x TP {},", setting.chips(), setting.ddp, setting.tp);
}

std::string fit_text(const RunPlan& plan) {
  if (!plan.clash.empty()) return "a kernel does not fit L1";
  if (plan.fits()) return "fits";
  return "over by " + gibibytes(plan.peak - plan.capacity);
}

/// Returns the ops whose kernels take most, with their share.
std::string kernels_text(const RunPlan& plan) {
  std::vector<std::pair<SimTime, std::string>> ops;
  for (const auto& [op, time] : plan.kernels_by_op) ops.emplace_back(time, op);
  std::ranges::sort(ops, std::greater());
  constexpr std::size_t kShown = 8;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(ops.size(), kShown); ++i) {
    parts.push_back(fmt::format("{} {:.1f} %", ops[i].second,
                                100 * ops[i].first.seconds() / plan.kernels.seconds()));
  }
  return join(parts, ", ");
}

void print_plan(const RunPlan& plan, const std::string& name, const wormhole::Profiles& profiles,
                ColorMode color) {
  const training::Recipe& recipe = plan.setting.recipe;
  fmt::print("{}: {} parameters, {} x {} sequences of {} tokens an update, {} of {}\n", name,
             plan.parameters, recipe.accumulate, recipe.batch, recipe.sequence,
             mesh_text(plan.setting), profiles.chip.name);
  if (!plan.clash.empty()) {
    fmt::print("does not run: {}\n", plan.clash);
    return;
  }
  fmt::print("DRAM     {} at its peak of {} on each chip: {}\n", gibibytes(plan.peak),
             gibibytes(plan.capacity), fit_text(plan));
  const SimTime rest = plan.step - plan.kernels - plan.sums - plan.exchanges;
  fmt::print(
      "step     {}: kernels {}, sums of gradients {}, exchanges {}, the rest {}; {} launches\n",
      time_text(plan.step), time_text(plan.kernels), time_text(plan.sums),
      time_text(plan.exchanges), time_text(std::max(rest, SimTime())), plan.launches);
  fmt::print("kernels  {}\n", kernels_text(plan));
  fmt::print("rate     {:.0f} tokens/s, {:.1f} % of the chips' {} at HiFi4\n",
             plan.tokens_per_second(), 100 * plan.share_of_peak(),
             reports::format_quantity(plan.peak_flops * static_cast<double>(plan.setting.chips()),
                                      "FLOP/s"));
  fmt::print("trace    {:.1f} MiB of trace region, if the step were captured\n",
             static_cast<double>(plan.trace.value()) / (1 << 20));
  if (!plan.memory) return;
  constexpr std::size_t kMostHolders = 6;
  for (const reports::Table& table : {reports::memory_phases_table(*plan.memory),
                                      reports::memory_holders_table(*plan.memory, kMostHolders)}) {
    fmt::print("\n{}", reports::terminal_table(table, terminal_style(STDOUT_FILENO, color)));
  }
}

reports::Table settings_table(const std::vector<RunPlan>& plans) {
  reports::Table table{.caption = "The same update otherwise: the fastest that fit, of each mesh",
                       .columns = {{.title = "chips", .number = true},
                                   {.title = "DDP x TP"},
                                   {.title = "batch", .number = true},
                                   {.title = "accumulation", .number = true},
                                   {.title = "runner"},
                                   {.title = "step", .unit = "ms", .number = true},
                                   {.title = "collectives", .unit = "ms", .number = true},
                                   {.title = "rate", .unit = "tokens/s", .number = true},
                                   {.title = "of peak", .unit = "%", .number = true},
                                   {.title = "DRAM", .unit = "GiB", .number = true},
                                   {.title = "12 GiB a chip"}}};
  for (const RunPlan& plan : plans) {
    const training::Recipe& recipe = plan.setting.recipe;
    reports::TableRow row;
    const auto add = [&](std::string text) { row.cells.push_back({.text = std::move(text)}); };
    add(fmt::to_string(plan.setting.chips()));
    add(fmt::format("{} x {}", plan.setting.ddp, plan.setting.tp));
    add(fmt::to_string(recipe.batch));
    add(fmt::to_string(recipe.accumulate));
    add(recipe.memory_efficient ? "memory_efficient" : "default");
    add(fmt::format("{:.1f}", plan.step.seconds() * 1e3));
    add(fmt::format("{:.1f}", (plan.sums + plan.exchanges).seconds() * 1e3));
    add(fmt::format("{:.0f}", plan.tokens_per_second()));
    add(fmt::format("{:.1f}", 100 * plan.share_of_peak()));
    add(fmt::format("{:.2f}", static_cast<double>(plan.peak.value()) / (1 << 30)));
    add(fit_text(plan));
    table.rows.push_back(std::move(row));
  }
  return table;
}

nlohmann::ordered_json json_of(const RunPlan& plan) {
  const training::Recipe& recipe = plan.setting.recipe;
  nlohmann::ordered_json json{{"ddp", plan.setting.ddp},
                              {"tp", plan.setting.tp},
                              {"batch_size", recipe.batch},
                              {"gradient_accumulation_steps", recipe.accumulate},
                              {"memory_efficient", recipe.memory_efficient},
                              {"parameters", plan.parameters},
                              {"fits", plan.fits()}};
  if (!plan.clash.empty()) {
    json["clash"] = plan.clash;
    return json;
  }
  json["step_ps"] = plan.step.ps();
  json["kernels_ps"] = plan.kernels.ps();
  json["gradient_sums_ps"] = plan.sums.ps();
  json["exchanges_ps"] = plan.exchanges.ps();
  for (const auto& [op, time] : plan.kernels_by_op) json["kernels_by_op_ps"][op] = time.ps();
  json["launches"] = plan.launches;
  json["dram_peak_bytes"] = plan.peak.value();
  json["dram_capacity_bytes"] = plan.capacity.value();
  json["trace_region_bytes"] = plan.trace.value();
  json["tokens_per_second"] = plan.tokens_per_second();
  json["share_of_peak"] = plan.share_of_peak();
  return json;
}

void write_json(const std::string& file, const RunPlan& plan, const std::vector<RunPlan>& others) {
  nlohmann::ordered_json json{{"schema", "howard.fit/1"}, {"run", json_of(plan)}};
  json["others"] = nlohmann::ordered_json::array();
  for (const RunPlan& other : others) json["others"].push_back(json_of(other));
  write_file(file, json.dump(2) + "\n");
}

}  // namespace

int fit(int argc, const char* const* argv) {
  const FitOptions options = fit_options(argc, argv);
  if (options.help) {
    fmt::print("{}", kFitHelp);
    return kOk;
  }
  const wormhole::Profiles profiles = read_settings(options.profiles, wormhole::load_profiles);
  const training::TtmlSettings settings = read_ttml_files(options.files);
  const training::TtmlConfig& config = settings.config;
  RunSetting setting{.recipe = training::recipe_of(settings)};
  const auto vocabulary = training::vocabulary_of(config);
  if (!vocabulary) {
    training::refuse_ttml(settings, "transformer_config.vocab_size", "it is not set",
                          "the tokens of the tokenizer", "--with vocab_size=96");
  }
  setting.vocabulary = *vocabulary;
  setting = mesh_of(settings, setting);
  require_plannable(settings, setting);
  const RunPlan plan = plan_run(setting, profiles, true);
  const bool to_stdout = options.json == "-";
  if (!to_stdout) print_plan(plan, config.training.project_name, profiles, options.color);
  std::vector<RunPlan> others;
  if (options.search) {
    others = search_settings(setting, profiles);
    if (!to_stdout) {
      fmt::print("\n{}", reports::terminal_table(settings_table(others),
                                                 terminal_style(STDOUT_FILENO, options.color)));
    }
  }
  if (!options.json.empty()) write_json(options.json, plan, others);
  return plan.clash.empty() ? kOk : kFailed;
}

}  // namespace howard::cli
