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
// group's links are its own. Stages are played on a clock of their own from the times of their
// passes (pipeline_schedule.h). Where the time goes is the mean over the chips: kernels that
// compute, exchanges that nothing hides, the bubble in which a stage waits, and the host with all
// other gaps. Nothing published times such steps, so all of it is predicted.
//
// TTML hides no collective: its sums of gradients follow the backward pass. With overlap=backward
// each begins as soon as its gradient exists, while the passes go on undisturbed: a bound.
//
// Timing: nothing is timed in repetitions; the time is that of a step whose programs have been
// planned before, from an idle chip to an idle chip, with MorehAdamW. So a step of one chip is
// longer than the mean of llama_step, whose host calls the next step while the chip still works.
// The engine is the dynamic one unless engine=traced: then chips replay captured steps.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "experiments/cases/llama_training.h"
#include "experiments/experiment.h"
#include "experiments/meshes/mesh_step.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using harness::Better;
using harness::CellSource;
using harness::NotApplicable;
using harness::Parameters;
using harness::WhatIf;

const WordAxis kMeshModel("model");
const auto kShardedLoss =
    choice_axis<bool>("loss", "of logits that are gathered first, or that stay divided",
                      {{"gathered", false}, {"sharded", true}});
const auto kSocket =
    choice_axis<Socket>("socket", "between stages: through the hosts, or over a link",
                        {{"mpi", Socket::mpi}, {"fabric", Socket::fabric}});
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

MeshJob job_of(const Point& point) {
  MeshJob job{.model = llama_sizes_of(point[kMeshModel]),
              .mesh = point[kMesh],
              .schedule = point[kSchedule],
              .micro_batches = static_cast<int>(point[kMicroBatches]),
              .socket = point[kSocket],
              .dispatch = point[kDispatch]};
  job.model.batch = point[kSequences];
  job.model.sharded_loss = point[kShardedLoss];
  job.model.sequence_parallel = point[kDividesRows];
  job.traced = point[kEngine] == Engine::traced;
  job.overlapped = point[kOverlaps];
  job.chunks = static_cast<int>(point[kChunks]);
  job.links = static_cast<int>(point[kLinks]);
  return job;
}

/// The metrics of the parts of a step begin so: "step_time.bubble".
constexpr const char* kStepTimes = "step_time.";

/// Returns why a job is no point, or nothing.
std::optional<std::string> obstacle_of(const MeshJob& job) {
  if (auto obstacle = mesh_obstacle(job)) return obstacle;
  if (job.mesh.pp == 1 && job.schedule != mesh::PipelineSchedule::sequential) {
    return "one stage has no schedule";
  }
  if (job.model.sequence_parallel && job.mesh.tp == 1) {
    return "one chip of a group has whole sequences";
  }
  if (job.socket == Socket::fabric && job.mesh.pp == 1) return "one stage sends over no socket";
  if (job.links > 1 && job.mesh.chips() == 1) return "one chip has no links";
  if (job.overlapped && job.mesh.ddp == 1) return "one group of chips sums no gradients";
  return std::nullopt;
}

/// Returns the name of what takes most of a step.
std::string largest_part(const profiler::StepTimes& step) {
  const std::string_view name =
      std::ranges::max(step.parts(), {}, [](const auto& part) { return part.second; }).first;
  return name == "compute" ? "kernels" : std::string(name);
}

std::string basis_of(const MeshJob& job) {
  std::string text = fmt::format("step: emulated, {} engine", job.traced ? "traced" : "dynamic");
  if (job.mesh.ddp > 1 || job.mesh.tp > 1) {
    text += "; collectives: published rates on a line, predicted beyond four chips";
  }
  if (job.overlapped) text += "; overlap: a bound, nothing is published";
  if (job.links > 1) text += fmt::format("; links {} times as fast", job.links);
  if (job.mesh.pp > 1) {
    text += job.socket == Socket::mpi
                ? "; between stages: published transfers, a network of 10 Gbit/s is assumed"
                : "; between stages: one link, predicted";
  }
  return text;
}

void describe_step(const DevBox& box, const MeshJob& job, harness::PointResult& found) {
  const MeshStep step = mesh_step(box, job);
  const double seconds = step.times.time.seconds();
  const auto tokens = static_cast<double>(job.model.batch * job.model.sequence * job.micro_batches);
  const CoreGrid grid = box.profiles().chip.compute_grid(job.dispatch);
  const double peak = box.profiles().chip.peak_flops(grid.cores(), MathFidelity::hifi4);
  const auto add = [&](std::string name, double value, std::string unit, Better better) {
    found.metrics.push_back(
        {.name = std::move(name), .value = value, .unit = std::move(unit), .better = better});
  };
  found.metrics.push_back(exact_time("time", step.times.time));
  for (const auto& [name, part] : step.times.parts()) {
    found.metrics.push_back(exact_time(fmt::format("{}{}", kStepTimes, name), part));
  }
  add("chips", job.mesh.chips(), "chips", Better::lower);
  add("tokens", tokens / seconds, "1/s", Better::higher);
  add("mfu", mesh_step_flops(job) / (peak * job.mesh.chips() * seconds), "1", Better::higher);
  add("memory", static_cast<double>(step.peak.value()), "B", Better::lower);
  const Bytes over = step.peak - step.capacity;
  found.details = {
      {"fits", step.peak <= step.capacity
                   ? "yes"
                   : fmt::format("over by {:.1f} GB", 1e-9 * static_cast<double>(over.value()))},
      {"bound_by", largest_part(step.times)},
      {"basis", basis_of(job)}};
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
    if (!obstacle_of(job_of(harness::changed(point.parameters(), changes)))) {
      candidates.push_back(std::move(changes));
    }
  }
  return candidates;
}

/// Returns the numbers of chunks in which stages can interleave their blocks.
std::vector<Parameters> more_chunks(const Point& point) {
  std::vector<Parameters> candidates;
  for (const int chunks : {2, 4}) {
    Parameters changes{{"schedule", "1f1b"}, kChunks.at(chunks)};
    if (chunks != job_of(point).chunks &&
        !obstacle_of(job_of(harness::changed(point.parameters(), changes)))) {
      candidates.push_back(std::move(changes));
    }
  }
  return candidates;
}

/// Returns all meshes of as many chips, with the schedules that stages can have. `stages` says
/// whether they may have several.
std::vector<Parameters> other_meshes(const Point& point, bool stages) {
  const MeshShape mesh = job_of(point).mesh;
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
      if (!obstacle_of(job_of(harness::changed(point.parameters(), changes)))) {
        candidates.push_back(std::move(changes));
      }
    }
  }
  return candidates;
}

std::vector<WhatIf> parallel_what_ifs(const Point& point) {
  const MeshJob job = job_of(point);
  const bool alone = job.mesh.chips() == 1;
  std::vector<WhatIf> changes{
      change("links twice as fast",
             alone || (job.mesh.ddp * job.mesh.tp == 1 && job.socket == Socket::mpi)
                 ? std::vector<Parameters>{}
                 : std::vector<Parameters>{{kLinks.at(2 * job.links)}},
             alone ? "one chip uses no link" : "all that is sent goes through the hosts"),
      change("sums of gradients beside the backward pass",
             job.overlapped || job.mesh.ddp == 1 ? std::vector<Parameters>{}
                                                 : std::vector<Parameters>{{kOverlaps.at(true)}},
             job.overlapped ? "they are so already" : "one group of chips sums no gradients"),
      set_axis("traced dispatch", point, kEngine, Engine::traced, "it is replayed already"),
      eth_dispatch(point),
      change("smaller micro-batches, more of them", other_micro_batches(point, true),
             "a micro-batch has no more sequences to divide"),
      change("larger micro-batches, fewer of them", other_micro_batches(point, false),
             "there is one micro-batch"),
      change("the same chips shared otherwise", other_meshes(point, true),
             alone ? "one chip shares nothing" : "no other mesh divides this model")};
  if (job.mesh.tp > 1) {
    changes.push_back(set_axis("loss of divided logits", point, kShardedLoss, true,
                               "the logits stay divided already"));
    changes.push_back(set_axis("sequence parallelism", point, kDividesRows, true,
                               "the rows are divided already"));
  }
  if (job.mesh.pp == 1) return changes;
  changes.push_back(change("no stages, no bubble: the same chips by DDP and TP",
                           other_meshes(point, false), "no such mesh divides this model"));
  for (const char* const schedule : {"gpipe", "1f1b"}) {
    changes.push_back(set_axis(fmt::format("schedule {}", schedule), point, kSchedule,
                               kSchedule.parse(schedule), "it is the schedule already"));
  }
  changes.push_back(change("1f1b with the stages' blocks in interleaved chunks", more_chunks(point),
                           "micro-batches in groups of the stages, and a block for each chunk"));
  changes.push_back(
      set_axis("stages over links", point, kSocket, Socket::fabric, "they use links already"));
  return changes;
}

std::vector<harness::Axis> parallel_axes() {
  return {
      kMeshModel.of("of TTML's configuration files",
                    {"nanollama3", "tinyllama", "llama3_2_1b", "llama8b"}, {"tinyllama", "llama8b"},
                    {"tinyllama"}),
      kMesh.with({"1x1x1", "2x1x1", "1x2x1", "1x1x2", "8x1x1", "1x4x1", "2x4x1", "1x1x8", "2x2x2"},
                 {"1x1x1", "2x1x1", "1x2x1", "1x1x2"}),
      kSchedule.with({"ttml"}),
      kSequences.with({"8"}),
      kMicroBatches.with({"4"}),
      kShardedLoss.with({"gathered"}),
      kSocket.with({"mpi"}),
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
                      {"compute", CellSource::metric, "step_time.compute"},
                      {"exchange", CellSource::metric, "step_time.exchange"},
                      {"bubble", CellSource::metric, "step_time.bubble"},
                      {"host", CellSource::metric, "step_time.host"},
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
            const MeshJob job = job_of(point);
            if (auto obstacle = obstacle_of(job)) return NotApplicable{std::move(*obstacle)};
            return finding([=](harness::PointResult& found) { describe_step(*box, job, found); });
          },
          .what_ifs = parallel_what_ifs};
}

}  // namespace howard::experiments
