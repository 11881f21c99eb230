// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/mesh_options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

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
  if (chunks > 1 && schedule != PipelineSchedule::one_forward_one_back) {
    throw UsageError("--chunks are interleaved by --schedule 1f1b alone");
  }
  training::require_chunks(*plan, recipe.accumulate);
  return plan;
}

}  // namespace howard::cli
