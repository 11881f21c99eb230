// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "engines/models/adapters.h"
#include "engines/models/deepseek.h"
#include "engines/models/language_model.h"
#include "engines/models/llama.h"
#include "experiments/training_plan/emulated_run.h"
#include "experiments/training_plan/pipeline_plan.h"
#include "experiments/training_plan/planned_chip.h"
#include "experiments/training_plan/tier_plan.h"
#include "profiler/memory_recorder.h"

namespace howard::experiments {
namespace {

/// Plans a run with `batches` batches; its step is the second update.
RunPlan measured(RunSetting setting, int batches, const chip::Profiles& profiles,
                 profiler::MemoryRecorder* memory, MemorySink* listener = nullptr) {
  setting.recipe.accumulate = batches;
  if (memory != nullptr) memory->open("model");
  EmulatedRun run(setting, planned_profiles(setting, profiles),
                  memory != nullptr ? memory : listener);
  static_cast<void>(run.update());
  std::optional<profiler::MemoryUse> used;
  if (memory != nullptr) {
    memory->close();
    used = memory->use();
  }
  RunPlan plan = run.planned_update();
  plan.memory = std::move(used);
  return plan;
}

/// Returns the most DRAM of a run. A second batch runs beside the gradients of the first one, and
/// further ones need no more; so does a second update, if the first one leaves gradients.
Bytes peak_of_updates(RunSetting setting, const chip::Profiles& profiles) {
  setting.recipe.accumulate = std::min(setting.recipe.accumulate, 2);
  EmulatedRun run(setting, planned_profiles(setting, profiles), nullptr);
  run.update_alone();
  if (run.has_gradients()) run.update_alone();
  return run.peak();
}

RunPlan plan_mesh(const RunSetting& setting, const chip::Profiles& profiles,
                  profiler::MemoryRecorder* memory, MemorySink* listener) {
  const int batches = setting.recipe.accumulate;
  RunPlan plan = measured(setting, std::min(batches, 2), profiles, memory, listener);
  if (batches <= 2) return plan;
  const RunPlan one = measured(setting, 1, profiles, nullptr);
  const int more = batches - 2;
  const auto extend = [&](auto& of, const auto& first) { of += (of - first) * more; };
  plan.step = profiler::extended(one.step, plan.step, batches);
  extend(*plan.host, *one.host);
  extend(plan.trace, one.trace);
  extend(plan.computed, one.computed);
  extend(plan.calls, one.calls);
  for (auto& [phase, time] : plan.phases) extend(time, one.phases.at(phase));
  plan.kernels.extend(one.kernels, more);
  plan.exchanges.extend(one.exchanges, more);
  return plan;
}

}  // namespace

std::int64_t vocabulary_rows(const RunSetting& setting) {
  const std::int64_t rows = kTileSide * setting.plan.tp;
  return ceil_div(setting.vocabulary, rows) * rows;
}

std::optional<std::string> sharing_obstacle(const models::ModelOptions& model,
                                            const training::MeshPlan& plan) {
  const auto refuse = [](std::int64_t size, std::string_view what, int by, std::string_view who) {
    return fmt::format("{} {} cannot be divided by {} {}", size, what, by, who);
  };
  const int tp = plan.tp;
  const int stages = plan.stages();
  if (model.heads % tp != 0) return refuse(model.heads, "heads", tp, "chips");
  if (model.kind == training::ModelKind::llama) {
    const std::int64_t wide = models::feed_forward_of(model);
    if (model.groups % tp != 0) return refuse(model.groups, "groups of heads", tp, "chips");
    if (wide % tp != 0) return refuse(wide, "columns of the feed-forward part", tp, "chips");
  }
  if (plan.sequence_parallel && tp > 1 && model.sequence % (kTileSide * tp) != 0) {
    return refuse(model.sequence, "rows of a sequence", tp, "chips in whole tiles");
  }
  if (model.layers < stages) return refuse(model.layers, "blocks", stages, "stages");
  if (model.tied && (tp > 1 || stages > 1)) {
    return "the head is the token table, which is on each chip";
  }
  return std::nullopt;
}

std::int64_t RunSetting::sequences() const {
  return recipe.model.batch * recipe.accumulate * std::max(plan.workers, 1);
}

std::int64_t RunPlan::tokens() const { return setting.sequences() * setting.recipe.model.sequence; }

double RunPlan::tokens_per_second() const {
  return step.time > SimTime() ? static_cast<double>(tokens()) / step.time.seconds() : 0;
}

std::optional<harness::ExpectedError> RunPlan::expected_error() const {
  if (launches() == 0) return std::nullopt;
  KernelAccount all = kernels;
  all.add(exchanges);
  return all.expected_error(
      {.whole = step.time.seconds(), .host = host.value_or(SimTime()).seconds()});
}

std::int64_t RunPlan::active() const {
  const std::int64_t idle = models::idle_parameters(setting.recipe.model);
  return std::max(parameters - idle, std::int64_t{0});  // none are counted of a run that clashes
}

double RunPlan::flops() const {
  const training::Recipe& recipe = setting.recipe;
  const bool attends = recipe.model.kind != training::ModelKind::mlp;
  const std::int64_t columns = recipe.model.head_columns() + recipe.model.value_columns();
  const std::int64_t heads = attends ? recipe.model.heads * columns : 0;
  const double attention = 6.0 * recipe.model.layers * static_cast<double>(heads) *
                           static_cast<double>(recipe.model.sequence);
  return (6 * static_cast<double>(active()) + attention) * static_cast<double>(tokens());
}

double RunPlan::share_of_peak() const {
  const double most = peak_flops * static_cast<double>(setting.chips()) * step.time.seconds();
  return most > 0 ? flops() / most : 0;
}

double RunPlan::mfu() const {
  const double most = core_flops * cores * setting.chips() * step.time.seconds();
  return most > 0 ? flops() / most : 0;
}

std::optional<std::int64_t> largest_batch(const RunPlan& plan, const chip::Profiles& profiles) {
  const training::MeshPlan& shared = plan.setting.plan;
  if (shared.stages() > 1 || shared.workers > 0 || !plan.clash.empty()) return std::nullopt;
  RunSetting tried = plan.setting;
  const auto peak_of = [&](std::int64_t sequences) {
    tried.recipe.model.batch = sequences * shared.batch_shares();
    try {
      return peak_of_updates(tried, profiles);
    } catch (const Error&) {
      return Bytes();  // a kernel does not fit L1, or a shape is too large, whatever the DRAM
    }
  };
  // The peak is the largest of several sums, of which each grows by the same with each sequence:
  // the more there are, the faster it grows. So its growth at any batch leads to the largest one
  // that fits, or to one that is still too large.
  std::int64_t at = plan.setting.recipe.model.batch / shared.batch_shares();
  Bytes peak = plan.peak;
  Bytes growth = peak_of(at + 1) - peak;
  if (growth <= Bytes()) {  // the peak is that of the update
    at = 512;
    peak = peak_of(at);
    growth = peak_of(at + 1) - peak;
  }
  if (growth <= Bytes()) return std::nullopt;
  std::int64_t most = peak > plan.capacity
                          ? at - ceil_div((peak - plan.capacity).value(), growth.value())
                          : at + (plan.capacity - peak).value() / growth.value();
  while (most > 1 && most != at) {
    peak = peak_of(most);
    if (peak == Bytes()) {  // so many that no program of them can be made
      most = most > at ? at + (most - at) / 2 : most / 2;
      continue;
    }
    if (peak <= plan.capacity) break;
    growth = std::max(peak - peak_of(most - 1), Bytes{1});
    most -= ceil_div((peak - plan.capacity).value(), growth.value());
  }
  if (most < 1 || (most == 1 && peak_of(1) > plan.capacity)) return std::nullopt;
  return most * shared.batch_shares();
}

RunPlan complete_plan(RunPlan plan, const RunSetting& setting, const chip::Profiles& profiles) {
  plan.setting = setting;
  plan.capacity = profiles.chip.dram_capacity - profiles.software.trace_region;
  const CoreGrid grid = profiles.chip.compute_grid(setting.dispatch);
  plan.peak_flops = profiles.chip.peak_flops(grid.cores(), MathFidelity::hifi4);
  plan.core_flops = 1000 * static_cast<double>(profiles.chip.aiclk.value());
  plan.cores = static_cast<int>(grid.cores());
  return plan;
}

RunPlan plan_run(const RunSetting& setting, const chip::Profiles& profiles, bool with_memory,
                 MemorySink* listener) {
  if (setting.plan.stages() > 1) {
    return plan_pipeline(setting, profiles, std::span(&setting.plan.schedule, 1), listener).front();
  }
  profiler::MemoryRecorder memory;
  RunPlan plan;
  try {
    if (setting.plan.workers > 0) {
      return TierPlanner(setting, profiles).plans(setting, std::span(&setting.plan, 1)).front();
    }
    plan = plan_mesh(setting, profiles, with_memory ? &memory : nullptr, listener);
  } catch (const models::NoSuchLayer&) {
    throw;  // there is no such model, on any chips
  } catch (const Error& failure) {
    plan.clash = failure.what();
  }
  return complete_plan(std::move(plan), setting, profiles);
}

}  // namespace howard::experiments
