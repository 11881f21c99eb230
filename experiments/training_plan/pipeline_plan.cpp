// SPDX-License-Identifier: Apache-2.0
#include "experiments/training_plan/pipeline_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "engines/chip/chip_links.h"
#include "engines/models/llama.h"
#include "experiments/training_plan/planned_chip.h"
#include "experiments/training_plan/stage_chip.h"

namespace howard::experiments {
namespace {

using profiler::StepTimes;

/// Holds what the chips of one stage do for one part of the blocks.
struct Part {
  StageWork work;
  SimTime send;
  Bytes peak;
};

Part part_of(const RunSetting& setting, const chip::Profiles& profiles, int first, int end,
             MemorySink* listener) {
  StageChip chip(setting, profiles, first, end, listener);
  Part part{.work = chip.run()};
  part.send = setting.plan.fabric ? chip::send_time(profiles, part.work.activations)
                                  : chip::message_time(profiles, part.work.activations);
  part.peak = chip.peak();
  return part;
}

/// Returns the DRAM of a stage's sockets: a ring for activations and one for gradients, if it
/// receives any. That each has a ring of its own is assumed.
Bytes ring_buffers(const training::MeshPlan& plan, int stage) {
  if (!plan.fabric) return {};
  const bool around = plan.chunks > 1;  // the first stage then follows the last one
  const bool activations = stage > 0 || around;
  const bool gradients = stage + 1 < plan.stages() || around;
  return kFabricRing * ((activations ? 1 : 0) + (gradients ? 1 : 0));
}

/// Returns all parts. Those in the middle with equally many blocks are equal.
std::vector<Part> parts_of(const RunSetting& setting, const chip::Profiles& profiles,
                           const std::vector<int>& blocks, MemorySink* listener) {
  std::map<std::tuple<bool, bool, int>, Part> known;
  std::vector<Part> parts;
  int first = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const int end = first + blocks[i];
    const std::tuple key(i == 0, i + 1 == blocks.size(), end - first);
    auto found = known.find(key);
    if (found == known.end())
      found = known.emplace(key, part_of(setting, profiles, first, end, listener)).first;
    parts.push_back(found->second);
    first = end;
  }
  return parts;
}

/// Returns the most DRAM that a chip of stage `stage` has in use: what rests of all its chunks,
/// what it keeps of other passes, and the pass itself.
Bytes peak_of_stage(const mesh::PipelineOrder& order, int stage, const std::vector<Part>& parts) {
  const auto at = [&](int chunk) -> const Part& {
    return parts[static_cast<std::size_t>(chunk * order.stages + stage)];
  };
  Bytes resting, kept, most;
  for (int chunk = 0; chunk < order.chunks; ++chunk) resting += at(chunk).work.resting;
  for (const mesh::PipelinePass& pass : mesh::passes_of(order, stage)) {
    const Part& part = at(pass.chunk);
    if (!pass.forward) kept = kept - part.work.kept;
    most = std::max(most, resting + kept + (part.peak - part.work.resting));
    if (pass.forward) kept += part.work.kept;
  }
  return most;
}

/// Describes the step of stages that have these parts, by the plan's schedule.
void describe_step(const std::vector<Part>& parts, const std::vector<int>& blocks, RunPlan& plan) {
  const RunSetting& setting = plan.setting;
  const mesh::PipelineOrder order = setting.plan.order(setting.recipe.accumulate);
  std::vector<mesh::PassTimes> times;
  for (const Part& part : parts) {
    times.push_back({part.work.forward.time, part.work.backward.time, part.send});
  }
  const auto count = static_cast<std::size_t>(order.stages);
  const auto accounts = mesh::run_pipeline(order, times);
  std::vector<SimTime> updates(count);
  std::vector<int> blocks_of(count);
  StepTimes sum;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const StageWork& work = parts[i].work;
    sum = sum + (work.forward + work.backward) * order.micro_batches + work.update;
    updates[i % count] += work.update.time;
    blocks_of[i % count] += blocks[i];
  }
  StepTimes& step = plan.step;
  for (std::size_t i = 0; i < count; ++i) {
    step.time = std::max(step.time, accounts[i].end + updates[i]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const int stage = static_cast<int>(i);
    PlanPart part{.name = fmt::format("stage {}", i),
                  .share = fmt::format("{} block{}", blocks_of[i], blocks_of[i] == 1 ? "" : "s"),
                  .working = accounts[i].computing + accounts[i].sending + updates[i],
                  .micro_batches = mesh::most_alive(order, stage),
                  .peak = peak_of_stage(order, stage, parts) + ring_buffers(setting.plan, stage)};
    part.waiting = step.time - part.working;
    sum.exchange += accounts[i].sending;
    sum.bubble += part.waiting;
    plan.peak = std::max(plan.peak, part.peak);
    plan.parts.push_back(std::move(part));
  }
  const auto mean = [&](SimTime all) { return SimTime::picoseconds(all.ps() / order.stages); };
  step.compute = mean(sum.compute);
  step.exchange = mean(sum.exchange);
  step.bubble = mean(sum.bubble);
}

}  // namespace

std::vector<RunPlan> plan_pipeline(const RunSetting& setting, const chip::Profiles& profiles,
                                   std::span<const mesh::PipelineSchedule> schedules,
                                   MemorySink* listener) {
  models::ModelOptions whole = setting.recipe.model.with(vocabulary_rows(setting));
  const RunPlan begun =
      complete_plan({.parameters = models::parameter_count(whole)}, setting, profiles);
  std::vector<RunPlan> plans(schedules.size(), begun);
  for (std::size_t i = 0; i < plans.size(); ++i) plans[i].setting.plan.schedule = schedules[i];
  try {
    const std::vector<int> blocks = mesh::blocks_of_parts(setting.plan.blocks, setting.plan.chunks);
    const std::vector<Part> parts = parts_of(setting, profiles, blocks, listener);
    for (RunPlan& plan : plans) describe_step(parts, blocks, plan);
  } catch (const Error& failure) {
    for (RunPlan& plan : plans) plan.clash = failure.what();
  }
  return plans;
}

}  // namespace howard::experiments
