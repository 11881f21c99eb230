// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/mesh_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "engines/training/config/ttml_mesh.h"
#include "harness/cli/command_line.h"

namespace howard::cli {
namespace {

using mesh::PipelineSchedule;

const std::map<std::string, PipelineSchedule> kSchedules{
    {"ttml", PipelineSchedule::sequential},
    {"gpipe", PipelineSchedule::gpipe},
    {"1f1b", PipelineSchedule::one_forward_one_back}};

constexpr int kMostChunks = 64;

/// Throws Error unless stages can interleave so many chunks of their blocks.
void require_chunks(const training::MeshPlan& plan, const training::Recipe& recipe) {
  if (plan.chunks == 1) return;
  if (plan.schedule != PipelineSchedule::one_forward_one_back) {
    throw UsageError("--chunks are interleaved by --schedule 1f1b alone");
  }
  const auto refuse = [&](std::string value, std::string accepted) {
    throw Error({.attempted = fmt::format("interleave {} chunks of each stage", plan.chunks),
                 .value = std::move(value),
                 .accepted = std::move(accepted),
                 .hint = ""});
  };
  if (recipe.accumulate % plan.stages() != 0) {
    refuse(fmt::format("{} micro-batches", recipe.accumulate),
           fmt::format("gradient_accumulation_steps that the {} stages divide", plan.stages()));
  }
  const int fewest = std::ranges::min(plan.blocks);
  if (fewest < plan.chunks) {
    refuse(fmt::format("a stage of {} block{}", fewest, fewest == 1 ? "" : "s"),
           "a block for each chunk");
  }
}

}  // namespace

void add_mesh_options(CLI::App& app, PipelineSchedule& schedule, int& chunks, int& tiers) {
  add_choice(app, "--schedule", schedule, kSchedules);
  add_whole(app, "--chunks", chunks, 1, kMostChunks);
  add_whole(app, "--tiers", tiers, 2, 3);
}

std::optional<training::MeshPlan> shared_plan(const training::TtmlSettings& settings,
                                              const training::Recipe& recipe,
                                              PipelineSchedule schedule, int chunks, int tiers) {
  auto plan = training::mesh_plan_of(settings, recipe);
  if (schedule != PipelineSchedule::sequential && (!plan || plan->stages() == 1)) {
    throw UsageError("--schedule is for the stages of a pipeline_parallel_config");
  }
  if (chunks > 1 && (!plan || plan->stages() == 1)) {
    throw UsageError("--chunks is for the stages of a pipeline_parallel_config");
  }
  if (tiers != 3 && (!plan || plan->workers == 0)) {
    throw UsageError("--tiers is for the workers of a multihost_config");
  }
  if (!plan) return plan;
  plan->schedule = schedule;
  plan->chunks = chunks;
  plan->three_tiers = tiers == 3;
  require_chunks(*plan, recipe);
  return plan;
}

}  // namespace howard::cli
