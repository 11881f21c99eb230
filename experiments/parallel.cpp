// SPDX-License-Identifier: Apache-2.0
//
// Question: what do several chips make of a training step of a Llama, shared in TTML's three ways?
//
//   data parallel (DDP)      groups of chips divide the batch, and average their gradients after
//                            the backward pass: an all_reduce and a product for each parameter
//   tensor parallel (TP)     the chips of a group divide heads, feed-forward columns and
//                            vocabulary, and sum activations behind each half of a block and
//                            their gradients before it; with sequence=divided they also divide
//                            the rows between these layers (sequence parallelism)
//   pipeline parallel (PP)   stages divide the blocks, and send activations forward and gradients
//                            back; TTML runs one micro-batch after the other, GPipe and 1F1B let
//                            several be under way, and 1F1B with several chunks of blocks in each
//                            stage is interleaved
//
// Collectives are programs of the emulated chip like any other (chip_links.h has their times): an
// all_reduce is a reduce_scatter and an all_gather, as in TTML. Chips lie on a line, on which a
// group's links are its own. The step is that of `fit`, by the same planner (plan_run). Where its
// time goes is the mean over the chips: kernels that compute, exchanges that nothing hides, the
// bubble in which a stage waits, and the rest, of the host and all other gaps. Nothing published
// times such steps, so all of it is predicted.
//
// TTML hides no collective: its sums of gradients follow the backward pass. With overlap=backward
// each begins as soon as its gradient exists, while the passes go on undisturbed: a bound.
//
// Timing: nothing is timed in repetitions; the time is that of a step whose programs have been
// planned before, from an idle chip to an idle chip: that of llama_step. The engine is the dynamic
// one, with MorehAdamW, unless engine=traced: then chips replay captured steps, with the numbers of
// their optimizer: a bound.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "engines/training/parallel/mesh_plan.h"
#include "experiments/axes/mesh_shape.h"
#include "experiments/cases/llama_sizes.h"
#include "experiments/experiment.h"
#include "experiments/questions/what_ifs.h"
#include "experiments/training_plan/fit.h"
#include "experiments/training_plan/planned_step.h"
#include "experiments/training_plan/run_plan.h"

namespace howard::experiments {
namespace {

using harness::CellSource;
using harness::NotApplicable;
using harness::Parameters;
using harness::WhatIf;

const WordAxis kMeshModel("model");
const auto kShardedLoss =
    choice_axis<bool>("loss", "of logits that are gathered first, or that stay divided",
                      {{"gathered", false}, {"sharded", true}});
const auto kFabric =
    choice_axis<bool>("socket", "between stages: through the hosts, or over a link",
                      {{"mpi", false}, {"fabric", true}});
const auto kDividesRows = choice_axis<bool>(
    "sequence", "rows between the layers of TP: divided among its chips, or, not set, on each chip",
    {{"whole", false}, {"divided", true}}, "whole");
const auto kOverlaps = choice_axis<bool>(
    "overlap",
    "sums of gradients beside the backward pass (backward) or, not set, after it, as TTML",
    {{"none", false}, {"backward", true}}, "none");
const TypedAxis<MeshShape> kMesh{
    .name = "mesh",
    .meaning = "chips: groups that divide the batch x chips that divide the layers x stages",
    .parse = parse_mesh,
    .print = mesh_text};
const auto kSchedule = choice_axis<mesh::PipelineSchedule>(
    "schedule", "of the stages: one micro-batch after the other, or several under way",
    {{"ttml", mesh::parse_pipeline_schedule("ttml")},
     {"gpipe", mesh::parse_pipeline_schedule("gpipe")},
     {"1f1b", mesh::parse_pipeline_schedule("1f1b")}});
const auto kSequences = count_axis("batch", "sequences of a micro-batch, over all groups");
const auto kMicroBatches = count_axis("micro_batches", "passes before each update");
const auto kChunks =
    count_axis("chunks", "of each stage's blocks, which 1f1b interleaves; not set: one", "1");
const auto kLinks =
    count_axis("links", "links are so many times as fast; not set: as published", "1");

/// Returns the run of a model's usual training, or of the file that is named instead. Each file is
/// read once.
const DescribedRun& run_of(const std::string& model) {
  static std::mutex mutex;
  static std::map<std::string, DescribedRun> runs;
  const std::lock_guard lock(mutex);
  if (const auto found = runs.find(model); found != runs.end()) return found->second;
  DescribedRun run;
  if (names_training(model)) {
    run = described_run(model);
  } else {
    run.setting.recipe.model = llama_sizes_of(model);
    run.setting.vocabulary = run.setting.recipe.model.vocabulary;
    run.setting.recipe.optimizer.kind = training::OptimizerKind::moreh_adamw;
  }
  return runs.emplace(model, std::move(run)).first->second;
}

RunSetting setting_of(const Point& point) {
  const MeshShape mesh = point[kMesh];
  RunSetting setting = run_of(point[kMeshModel]).setting;
  training::Recipe& recipe = setting.recipe;
  const std::vector<int> own_blocks = setting.plan.blocks;
  setting.plan = {.ddp = mesh.ddp,
                  .tp = mesh.tp,
                  .sequence_parallel = point[kDividesRows],
                  .schedule = point[kSchedule],
                  .chunks = static_cast<int>(point[kChunks]),
                  .fabric = point[kFabric]};
  if (mesh.pp > 1) {
    setting.plan.blocks = std::ssize(own_blocks) == mesh.pp
                              ? own_blocks
                              : training::even_blocks(recipe.model.layers, mesh.pp);
  }
  setting.dispatch = point[kDispatch];
  setting.overlapped = point[kOverlaps];
  setting.replayed = point[kEngine] == Engine::traced;
  recipe.model.batch = point[kSequences];
  recipe.model.sharded_loss = point[kShardedLoss];
  recipe.accumulate = static_cast<int>(point[kMicroBatches]);
  return setting;
}

/// Returns the profiles with links that are so many times as fast.
chip::Profiles with_links(chip::Profiles profiles, std::int64_t times) {
  chip::CollectiveCosts& costs = profiles.software.collectives;
  costs.gather_link = costs.gather_link * static_cast<int>(times);
  costs.scatter_link = costs.scatter_link * static_cast<int>(times);
  return profiles;
}

/// Returns why the stages cannot interleave their chunks, or nothing.
std::optional<std::string> chunk_obstacle(const RunSetting& setting) {
  try {
    training::require_chunks(setting.plan, setting.recipe.accumulate);
    return std::nullopt;
  } catch (const Error& failure) {
    return failure.what();
  }
}

/// Returns why a setting is no point, or nothing.
std::optional<std::string> obstacle_of(const Point& point) {
  const RunSetting setting = setting_of(point);
  const training::MeshPlan& plan = setting.plan;
  if (setting.recipe.model.batch % plan.ddp != 0) {
    return fmt::format("{} sequences cannot be divided by {} groups of chips",
                       setting.recipe.model.batch, plan.ddp);
  }
  if (auto obstacle = sharing_obstacle(setting.recipe.model, plan)) return obstacle;
  if (auto obstacle = chunk_obstacle(setting)) return obstacle;
  if (plan.stages() == 1 && plan.schedule != mesh::PipelineSchedule::sequential) {
    return "one stage has no schedule";
  }
  if (plan.sequence_parallel && plan.tp == 1) return "one chip of a group has whole sequences";
  if (plan.fabric && plan.stages() == 1) return "one stage sends over no socket";
  if (point[kLinks] > 1 && setting.chips() == 1) return "one chip has no links";
  if (setting.overlapped && plan.ddp == 1) return "one group of chips sums no gradients";
  return std::nullopt;
}

std::optional<std::string> obstacle_of(const Point& point, const Parameters& changes) {
  return obstacle_of(Point(harness::changed(point.parameters(), changes)));
}

std::string basis_of(const RunSetting& setting, std::int64_t links) {
  const training::MeshPlan& plan = setting.plan;
  std::string text =
      fmt::format("step: emulated, {} engine", setting.replayed ? "traced" : "dynamic");
  if (plan.devices() > 1) {
    text += "; collectives: published rates on a line, predicted beyond four chips";
  }
  if (setting.overlapped) text += "; overlap: a bound, nothing is published";
  if (links > 1) text += fmt::format("; links {} times as fast", links);
  if (plan.stages() > 1) {
    text += plan.fabric
                ? "; between stages: one link, predicted"
                : "; between stages: published transfers, a network of 10 Gbit/s is assumed";
  }
  return text;
}

void describe_step(const DevBox& box, const RunSetting& setting, std::int64_t links,
                   const std::vector<std::string>& notes, harness::PointResult& found) {
  const RunPlan plan =
      plan_run(setting, with_links(box.profiles(), links), false, box.chip_memory());
  if (!plan.clash.empty()) {
    throw Error({.attempted = "run the step", .value = plan.clash});
  }
  found.metrics.push_back(exact_time("time", plan.step.time));
  describe(plan, found);
  found.details.emplace_back("basis", basis_of(plan.setting, links));
  found.warnings = notes;
}

WhatIf change(std::string what, std::vector<Parameters> candidates, std::string reason) {
  WhatIf made{.what = std::move(what), .candidates = std::move(candidates), .reason = {}};
  if (made.candidates.empty()) made.reason = std::move(reason);
  return made;
}

/// Returns the same update in other micro-batches: so many times as many, each that much smaller,
/// or the other way round.
std::vector<Parameters> other_micro_batches(const Point& point, bool more) {
  const std::int64_t batch = point[kSequences];
  const std::int64_t count = point[kMicroBatches];
  std::vector<Parameters> candidates;
  for (const std::int64_t times : {2, 4, 8}) {
    const std::int64_t divided = more ? batch : count;
    if (divided % times != 0) continue;
    Parameters changes{kSequences.at(more ? batch / times : batch * times),
                       kMicroBatches.at(more ? count * times : count / times)};
    if (!obstacle_of(point, changes)) candidates.push_back(std::move(changes));
  }
  return candidates;
}

/// Returns the numbers of chunks in which stages can interleave their blocks.
std::vector<Parameters> more_chunks(const Point& point) {
  std::vector<Parameters> candidates;
  for (const int chunks : {2, 4}) {
    Parameters changes{{"schedule", "1f1b"}, kChunks.at(chunks)};
    if (chunks != point[kChunks] && !obstacle_of(point, changes)) {
      candidates.push_back(std::move(changes));
    }
  }
  return candidates;
}

/// Returns all meshes of as many chips, with the schedules that stages can have. `stages` says
/// whether they may have several.
std::vector<Parameters> other_meshes(const Point& point, bool stages) {
  const MeshShape mesh = point[kMesh];
  std::vector<Parameters> candidates;
  for (int ddp = 1; ddp <= mesh.chips(); ++ddp) {
    if (mesh.chips() % ddp != 0) continue;
    const int rest = mesh.chips() / ddp;
    for (int tp = 1; tp <= rest; ++tp) {
      const MeshShape other{ddp, tp, rest / tp};
      if (rest % tp != 0 || (other.pp > 1 && !stages) || mesh_text(other) == mesh_text(mesh)) {
        continue;
      }
      Parameters changes{kMesh.at(other)};
      if (other.pp == 1) {
        changes.emplace_back("schedule", "ttml");
      } else if (mesh.pp == 1) {
        changes.emplace_back("schedule", "1f1b");
      }
      if (!obstacle_of(point, changes)) candidates.push_back(std::move(changes));
    }
  }
  return candidates;
}

std::vector<WhatIf> parallel_what_ifs(const Point& point) {
  const MeshShape mesh = point[kMesh];
  const bool alone = mesh.chips() == 1;
  const bool overlapped = point[kOverlaps];
  std::vector<WhatIf> changes{
      change("links twice as fast",
             alone || (mesh.ddp * mesh.tp == 1 && !point[kFabric])
                 ? std::vector<Parameters>{}
                 : std::vector<Parameters>{{kLinks.at(2 * point[kLinks])}},
             alone ? "one chip uses no link" : "all that is sent goes through the hosts"),
      change("sums of gradients beside the backward pass",
             overlapped || mesh.ddp == 1 ? std::vector<Parameters>{}
                                         : std::vector<Parameters>{{kOverlaps.at(true)}},
             overlapped ? "they are so already" : "one group of chips sums no gradients"),
      set_axis("traced dispatch", point, kEngine, Engine::traced, "it is replayed already"),
      eth_dispatch(point),
      change("smaller micro-batches, more of them", other_micro_batches(point, true),
             "a micro-batch has no more sequences to divide"),
      change("larger micro-batches, fewer of them", other_micro_batches(point, false),
             "there is one micro-batch"),
      change("the same chips shared otherwise", other_meshes(point, true),
             alone ? "one chip shares nothing" : "no other mesh divides this model")};
  if (mesh.tp > 1) {
    changes.push_back(set_axis("loss of divided logits", point, kShardedLoss, true,
                               "the logits stay divided already"));
    changes.push_back(set_axis("sequence parallelism", point, kDividesRows, true,
                               "the rows are divided already"));
  }
  if (mesh.pp == 1) return changes;
  changes.push_back(change("no stages, no bubble: the same chips by DDP and TP",
                           other_meshes(point, false), "no such mesh divides this model"));
  for (const char* const schedule : {"gpipe", "1f1b"}) {
    changes.push_back(set_axis(fmt::format("schedule {}", schedule), point, kSchedule,
                               kSchedule.parse(schedule), "it is the schedule already"));
  }
  changes.push_back(change("1f1b with the stages' blocks in interleaved chunks", more_chunks(point),
                           "micro-batches in groups of the stages, and a block for each chunk"));
  changes.push_back(set_axis("stages over links", point, kFabric, true, "they use links already"));
  return changes;
}

harness::Axis models_axis() {
  harness::Axis axis =
      kMeshModel.of("of TTML's configuration files, or the path of the file of a training (.yaml)",
                    {"nanollama3", "tinyllama", "llama3_2_1b", "llama8b"}, {"tinyllama", "llama8b"},
                    {"tinyllama"});
  axis.canonical = [known = axis.canonical](std::string_view word) {
    return names_training(word) ? std::string(word) : known(word);
  };
  return axis;
}

std::vector<harness::Axis> parallel_axes() {
  return {
      models_axis(),
      kMesh.with({"1x1x1", "2x1x1", "1x2x1", "1x1x2", "8x1x1", "1x4x1", "2x4x1", "1x1x8", "2x2x2"},
                 {"1x1x1", "2x1x1", "1x2x1", "1x1x2"}),
      kSchedule.with({"ttml"}),
      kSequences.with({"8"}),
      kMicroBatches.with({"4"}),
      kShardedLoss.with({"gathered"}),
      kFabric.with({"mpi"}),
      kDispatch.with({"worker"}),
      kChunks.optional(),
      kDividesRows.optional(),
      kEngine.optional_of("traced: replays of captured steps; not set: call by call",
                          {"dynamic", "traced"}),
      kOverlaps.optional(),
      kLinks.optional()};
}

harness::Presentation parallel_presentation() {
  return {.timed = "a training step of all chips, from idle chips to idle chips",
          .columns = {{"model", CellSource::parameter, "model"},
                      {"mesh", CellSource::parameter, "mesh"},
                      {"schedule", CellSource::parameter, "schedule"},
                      {"chunks", CellSource::parameter, "chunks"},
                      {"batch", CellSource::parameter, "batch"},
                      {"micro", CellSource::parameter, "micro_batches"},
                      {"loss", CellSource::parameter, "loss"},
                      {"sequence", CellSource::parameter, "sequence"},
                      {"socket", CellSource::parameter, "socket"},
                      {"dispatch", CellSource::parameter, "dispatch"},
                      {"engine", CellSource::parameter, "engine"},
                      {"overlap", CellSource::parameter, "overlap"},
                      {"links", CellSource::parameter, "links"},
                      {"time", CellSource::metric, "time"},
                      {"kernels", CellSource::metric, "step_time.compute"},
                      {"exchange", CellSource::metric, "step_time.exchange"},
                      {"bubble", CellSource::metric, "step_time.bubble"},
                      {"rest", CellSource::metric, "step_time.rest"},
                      {"host", CellSource::metric, "host_time"},
                      {"launches", CellSource::detail, "launches"},
                      expected_error_column(),
                      {"tokens", CellSource::metric, "tokens"},
                      {"of peak", CellSource::metric, "mfu"},
                      {"DRAM", CellSource::metric, "memory"},
                      {"fits", CellSource::detail, "fits", harness::Room::key},
                      {"bound by", CellSource::detail, "bound_by"},
                      {"basis", CellSource::detail, "basis"}},
          .bar_charts = {{.title = "A training step of several chips",
                          .label = "time",
                          .metric = "time",
                          .bars = {"model", "mesh", "schedule", "chunks"},
                          .parts = kStepTimes,
                          .rest = "rest",
                          .pale_unless = {"fits", "yes", "does not fit in DRAM"}}}};
}

}  // namespace

Experiment parallel(const Box& box) {
  return {.name = "parallel",
          .question = "What do several chips make of a Llama's training step, by DDP, TP and PP?",
          .axes = parallel_axes(),
          .presentation = parallel_presentation(),
          .parts = kStepTimes,
          .prepare = [=](harness::Backend, const Point& point) -> Prepared {
            if (auto obstacle = obstacle_of(point)) return NotApplicable{std::move(*obstacle)};
            return finding([=, setting = setting_of(point), links = point[kLinks],
                            notes = run_of(point[kMeshModel]).notes](harness::PointResult& found) {
              describe_step(*box, setting, links, notes, found);
            });
          },
          .what_ifs = parallel_what_ifs};
}

}  // namespace howard::experiments
