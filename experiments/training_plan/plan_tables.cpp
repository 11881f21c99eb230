// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/plan_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "reports/tables/format.h"

namespace howard::experiments {
namespace {

constexpr double kGibibyte = 1 << 30;

std::string gibibytes(Bytes size) {
  return fmt::format("{:.2f} GiB", static_cast<double>(size.value()) / kGibibyte);
}

constexpr double kMebibyte = 1 << 20;

/// Returns "9.49 of 11.88 GiB": the peak and what a chip has.
std::string used_text(const RunPlan& plan, double unit, const char* name, int digits) {
  const auto in_unit = [&](Bytes size) { return static_cast<double>(size.value()) / unit; };
  return fmt::format("{:.{}f} of {:.{}f} {}", in_unit(plan.peak), digits, in_unit(plan.capacity),
                     digits, name);
}

std::string fit_text(const std::string& clash, Bytes peak, Bytes capacity) {
  if (!clash.empty()) return "a kernel does not fit L1";
  if (peak <= capacity) return "fits";
  return "over by " + gibibytes(peak - capacity);
}

std::string fit_text(const RunPlan& plan) { return fit_text(plan.clash, plan.peak, plan.capacity); }

/// Returns the ops whose kernels take most, with their share.
std::string kernels_text(const RunPlan& plan) {
  const std::vector<KernelAccount::Part> ops = plan.kernels.parts();
  constexpr std::size_t kShown = 8;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(ops.size(), kShown); ++i) {
    parts.push_back(fmt::format("{} {:.1f} %", ops[i].name,
                                100 * ops[i].kernel.seconds() / plan.step.compute.seconds()));
  }
  return join(parts, ", ");
}

/// Returns "18.2 s" or, of an hour and more, "2.48 h".
std::string hours_or_seconds(double seconds) {
  constexpr double kHour = 3600;
  return seconds < kHour ? reports::format_quantity(seconds, "s")
                         : fmt::format("{:.2f} h", seconds / kHour);
}

/// Returns what a step consists of.
std::string step_text(const RunPlan& plan) {
  std::vector<std::string> parts;
  const profiler::StepTimes& step = plan.step;
  const bool tiers = plan.setting.plan.workers > 0;
  const auto add = [&](std::string_view what, SimTime time) {
    parts.push_back(fmt::format("{} {}", what, reports::format_time(time)));
  };
  add(tiers ? "kernels of the passes" : "kernels", step.compute);
  if (plan.parts.empty()) add("sums of gradients", step.sums);
  add(tiers ? "handing on" : "exchanges", step.exchange);
  if (!plan.parts.empty() && !tiers) add("bubble", step.bubble);
  add("the rest", std::max(step.rest(), SimTime()));
  std::string text = fmt::format("{}: {}", reports::format_time(step.time), join(parts, ", "));
  if (plan.host) text += fmt::format("; host {}", reports::format_time(*plan.host));
  if (plan.launches() > 0) text += fmt::format("; {} launches", plan.launches());
  if (const auto error = plan.expected_error()) {
    text += fmt::format("; expected error {:.0f} %", 100 * error->share);
  }
  return text;
}

/// Returns what the passes and the update take, and what chips exchange.
std::string phases_text(const RunPlan& plan) {
  std::vector<std::string> parts;
  for (const char* const phase : {"forward", "backward", "optimizer"}) {
    const auto found = plan.phases.find(phase);
    if (found == plan.phases.end()) continue;
    parts.push_back(fmt::format("{} {}", phase, reports::format_time(found->second)));
  }
  parts.push_back("exchange " + reports::format_time(plan.step.sums + plan.step.exchange));
  return join(parts, ", ");
}

/// Returns "12 GiB a chip": the DRAM of a chip with its trace region, which is less than a GiB.
std::string chip_title(Bytes capacity) {
  return fmt::format("{:.0f} GiB a chip",
                     std::ceil(static_cast<double>(capacity.value()) / kGibibyte));
}

/// Returns how many parameters there are and, where it is not all of them, how many are trained or
/// used by a token; nothing for a model that cannot be made.
std::string parameters_text(const RunPlan& plan) {
  if (plan.parameters == 0) return "";
  std::string part;
  if (plan.frozen > 0) {
    part = fmt::format(" ({} trained)", plan.parameters - plan.frozen);
  } else if (plan.active() < plan.parameters) {
    part = fmt::format(" ({} for a token)", plan.active());
  }
  return fmt::format("{} parameters{}, ", plan.parameters, part);
}

}  // namespace

std::string shared_text(const training::MeshPlan& plan) {
  std::vector<std::string> ways;
  if (plan.workers > 0) {
    ways.push_back(fmt::format("{} worker{} in {} tiers{}", plan.workers,
                               plan.workers == 1 ? "" : "s", plan.three_tiers ? 3 : 2,
                               plan.fabric ? " (fabric)" : ""));
  }
  if (plan.ddp > 1) ways.push_back(fmt::format("DDP {}", plan.ddp));
  if (plan.fsdp > 1) {
    ways.push_back(fmt::format("FSDP {}{}", plan.fsdp, plan.lazy ? " (lazy)" : ""));
  }
  if (plan.tp > 1) {
    ways.push_back(fmt::format("TP {}{}", plan.tp, plan.sequence_parallel ? " with SP" : ""));
  }
  if (plan.stages() > 1) {
    ways.push_back(fmt::format("PP {} ({}{}{})", plan.stages(), mesh::name_of(plan.schedule),
                               plan.chunks > 1 ? fmt::format(", {} chunks", plan.chunks) : "",
                               plan.fabric ? ", fabric" : ""));
  }
  return ways.empty() ? "one chip" : join(ways, " x ");
}

std::string plan_text(const FitAnswer& answer) {
  const RunPlan& plan = answer.plan;
  const training::Recipe& recipe = plan.setting.recipe;
  const training::MeshPlan& shared = plan.setting.plan;
  const bool pictures = recipe.model.kind == training::ModelKind::mlp;
  const std::string of_each = shared.workers > 0 ? " of each worker" : "";
  const std::string samples =
      pictures ? "pictures"
               : fmt::format("sequences{} of {} tokens", of_each, recipe.model.sequence);
  const char* const unit = pictures ? "pictures" : "tokens";
  std::string text =
      fmt::format("{}: {}{} x {} {} an update, {} of {}\n", answer.name, parameters_text(plan),
                  recipe.accumulate, recipe.model.batch, samples,
                  plan.setting.chips() == 1
                      ? "a chip"
                      : fmt::format("{} chips, {},", plan.setting.chips(), shared_text(shared)),
                  answer.chip);
  if (!plan.clash.empty()) return text + fmt::format("does not run: {}\n", plan.clash);
  text +=
      fmt::format("DRAM     {} ({}) at its peak on {}: {}\n", used_text(plan, kGibibyte, "GiB", 2),
                  used_text(plan, kMebibyte, "MiB", 1),
                  plan.parts.empty() ? "each chip" : "the chip that needs most", fit_text(plan));
  if (plan.largest_batch) {
    text += fmt::format("batch    {} {} at most{}\n", *plan.largest_batch,
                        pictures ? "pictures" : "sequences", pictures ? "" : ", with this runner");
  }
  text += fmt::format("step     {}\n", step_text(plan));
  if (!plan.phases.empty()) text += fmt::format("phases   {}\n", phases_text(plan));
  if (answer.generation) text += generation_text(*answer.generation, answer.generations);
  if (plan.launches() > 0) text += fmt::format("kernels  {}\n", kernels_text(plan));
  text += fmt::format(
      "rate     {:.0f} {}/s, {:.1f} % of the chips' {} at HiFi4; MFU {:.1f} % "
      "as TTML counts it, of {:.4g} TFLOP/s a core\n",
      plan.tokens_per_second(), unit, 100 * plan.share_of_peak(),
      reports::format_quantity(plan.peak_flops * static_cast<double>(plan.setting.chips()),
                               "FLOP/s"),
      100 * plan.mfu(), plan.core_flops * 1e-12);
  const std::int64_t steps = recipe.schedule.steps;
  const double updates = plan.step.time.seconds() * static_cast<double>(steps);
  text += fmt::format("run      {} steps: {} {} in {}", steps, plan.tokens() * steps, unit,
                      hours_or_seconds(updates));
  if (answer.generation) {
    const double drawn =
        answer.generation->whole().seconds() * static_cast<double>(answer.generations);
    text += fmt::format(", and {} with the generation", hours_or_seconds(updates + drawn));
  }
  text += "\n";
  if (plan.messages > 0) {
    text += fmt::format("messages {} a step, {:.1f} MB\n", plan.messages,
                        static_cast<double>(plan.message_bytes.value()) * 1e-6);
  }
  if (plan.trace > Bytes()) {
    text += fmt::format("trace    {:.1f} MiB of trace region, if the step were captured\n",
                        static_cast<double>(plan.trace.value()) / (1 << 20));
  }
  return text;
}

reports::Table parts_table(const RunPlan& plan) {
  const bool tiers = plan.setting.plan.workers > 0;
  reports::Table table{.caption = tiers ? "What each rank does in a step, one after the other"
                                        : "What each stage does in a step",
                       .columns = {{.title = tiers ? "rank" : "stage"},
                                   {.title = "has"},
                                   {.title = "works", .unit = "ms", .number = true},
                                   {.title = "waits", .unit = "ms", .number = true},
                                   {.title = "waits", .unit = "%", .number = true},
                                   {.title = "batches held", .number = true},
                                   {.title = "DRAM", .unit = "GiB", .number = true},
                                   {.title = chip_title(plan.capacity)}}};
  for (const PlanPart& part : plan.parts) {
    reports::TableRow row;
    const auto add = [&](std::string text) { row.cells.push_back({.text = std::move(text)}); };
    add(part.name);
    add(part.share);
    add(fmt::format("{:.1f}", part.working.seconds() * 1e3));
    add(fmt::format("{:.1f}", part.waiting.seconds() * 1e3));
    add(fmt::format("{:.1f}", 100 * part.waiting.seconds() / plan.step.time.seconds()));
    add(fmt::to_string(part.micro_batches));
    add(fmt::format("{:.2f}", static_cast<double>(part.peak.value()) / kGibibyte));
    add(fit_text("", part.peak, plan.capacity));
    table.rows.push_back(std::move(row));
  }
  return table;
}

reports::Table settings_table(const std::vector<RunPlan>& plans) {
  reports::Table table{
      .caption = "The same update otherwise: the fastest that fit, of each number of chips",
      .columns = {{.title = "chips", .number = true},
                  {.title = "shared by", .room = harness::Room::key},
                  {.title = "batch", .number = true},
                  {.title = "accumulation", .number = true},
                  {.title = "runner"},
                  {.title = "step", .unit = "ms", .number = true, .room = harness::Room::key},
                  {.title = "exchanges", .unit = "ms", .number = true},
                  {.title = "bubble", .unit = "ms", .number = true},
                  {.title = "rate", .unit = "tokens/s", .number = true},
                  {.title = "of peak", .unit = "%", .number = true},
                  {.title = "DRAM", .unit = "GiB", .number = true},
                  {.title = chip_title(plans.empty() ? Bytes() : plans.front().capacity)}}};
  for (const RunPlan& plan : plans) {
    const training::Recipe& recipe = plan.setting.recipe;
    reports::TableRow row;
    const auto add = [&](std::string text) { row.cells.push_back({.text = std::move(text)}); };
    add(fmt::to_string(plan.setting.chips()));
    add(shared_text(plan.setting.plan));
    add(fmt::to_string(recipe.model.batch));
    add(fmt::to_string(recipe.accumulate));
    add(recipe.model.memory_efficient ? "memory_efficient" : "default");
    add(fmt::format("{:.1f}", plan.step.time.seconds() * 1e3));
    add(fmt::format("{:.1f}", (plan.step.sums + plan.step.exchange).seconds() * 1e3));
    add(fmt::format("{:.1f}", plan.step.bubble.seconds() * 1e3));
    add(fmt::format("{:.0f}", plan.tokens_per_second()));
    add(fmt::format("{:.1f}", 100 * plan.share_of_peak()));
    add(fmt::format("{:.2f}", static_cast<double>(plan.peak.value()) / kGibibyte));
    add(fit_text(plan));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string options_text(const RunPlan& plan) {
  const training::MeshPlan& shared = plan.setting.plan;
  const training::Recipe& recipe = plan.setting.recipe;
  std::string text = fmt::format(
      "--with batch_size={} --with gradient_accumulation_steps={} --with runner_type={}",
      recipe.model.batch, recipe.accumulate,
      recipe.model.memory_efficient ? "memory_efficient" : "default");
  if (shared.devices() > 1) {
    // Two of the three are axes, in this order.
    const int first = shared.ddp > 1 ? shared.ddp : shared.fsdp;
    const std::string shape = fmt::format("mesh_shape=[{},{}]", first, shared.devices() / first);
    text += " --with " + shell_word(shape);
    if (shared.ddp > 1) text += " --with enable_ddp=true";
    if (shared.fsdp > 1) text += " --with enable_fsdp=true";
    if (shared.lazy) text += " --with lazy_parameter_init=true";
    if (shared.tp > 1) text += " --with enable_tp=true";
    if (shared.sequence_parallel) text += " --with enable_sp=true";
  }
  const int ranks = shared.workers > 0 ? shared.workers : shared.stages();
  if (shared.workers == 0 && ranks == 1) return text;
  text += fmt::format(" --with multihost_config.enabled=true --with num_workers={}", ranks);
  if (shared.workers > 0) return text + (shared.three_tiers ? "" : " --tiers 2");
  std::vector<std::string> blocks;
  for (std::size_t i = 0; i < shared.blocks.size(); ++i) {
    blocks.push_back(fmt::format("{}: {}", i, shared.blocks[i]));
  }
  text += " --with " + shell_word("blocks_per_rank={" + join(blocks, ", ") + "}");
  if (shared.fabric) text += " --with socket_type=fabric";
  if (shared.schedule == mesh::PipelineSchedule::sequential) return text;
  text += fmt::format(" --schedule {}", mesh::name_of(shared.schedule));
  return text + (shared.chunks > 1 ? fmt::format(" --chunks {}", shared.chunks) : "");
}

}  // namespace howard::experiments
