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
// planned before, from an idle chip to an idle chip, with MorehAdamW. The engine is the dynamic one
// unless engine=traced: then chips replay captured steps.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "experiments/axes/axes.h"
#include "experiments/cases/finding.h"
#include "experiments/cases/llama_training.h"
#include "experiments/laboratory/devbox.h"
#include "experiments/laboratory/experiment_list.h"
#include "experiments/meshes/mesh_step.h"
#include "experiments/questions/what_ifs.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::Better;
using harness::CellSource;
using harness::find_parameter;
using harness::NotApplicable;
using harness::Parameters;
using harness::WhatIf;

MeshJob job_of(const Parameters& parameters) {
  MeshJob job{
      .model = llama_sizes_of(*find_parameter(parameters, "model")),
      .mesh = parse_mesh(*find_parameter(parameters, "mesh")),
      .schedule = mesh::parse_pipeline_schedule(*find_parameter(parameters, "schedule")),
      .micro_batches = static_cast<int>(count_of(parameters, "micro_batches")),
      .socket = *find_parameter(parameters, "socket") == "mpi" ? Socket::mpi : Socket::fabric,
      .dispatch = parse_dispatch(*find_parameter(parameters, "dispatch"))};
  job.model.batch = count_of(parameters, "batch");
  job.model.sharded_loss = *find_parameter(parameters, "loss") == "sharded";
  job.model.sequence_parallel = find_parameter(parameters, "sequence") == "divided";
  job.traced = find_parameter(parameters, "engine") == "traced";
  job.overlapped = find_parameter(parameters, "overlap") == "backward";
  if (find_parameter(parameters, "chunks")) {
    job.chunks = static_cast<int>(count_of(parameters, "chunks"));
  }
  if (find_parameter(parameters, "links")) {
    job.links = static_cast<int>(count_of(parameters, "links"));
  }
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

/// Returns the parts of a step; they add up to it.
std::array<std::pair<const char*, SimTime>, 4> parts_of(const MeshStepTimes& times) {
  return {{{"compute", times.compute},
           {"exchange", times.exchange},
           {"bubble", times.bubble},
           {"host", times.host}}};
}

/// Returns the name of what takes most of a step.
std::string largest_part(const MeshStepTimes& times) {
  const auto parts = parts_of(times);
  const std::string name =
      std::ranges::max(parts, {}, [](const auto& part) { return part.second; }).first;
  return name == "compute" ? "kernels" : name;
}

class ParallelFinding final : public Finding {
 public:
  ParallelFinding(std::shared_ptr<const DevBox> box, const MeshJob& job)
      : box_(std::move(box)), job_(job) {}

  void run() override {
    const MeshStepTimes times = mesh_step(*box_, job_);
    const double seconds = times.step.seconds();
    const auto tokens =
        static_cast<double>(job_.model.batch * job_.model.sequence * job_.micro_batches);
    const CoreGrid grid = box_->profiles().chip.compute_grid(job_.dispatch);
    const double peak = box_->profiles().chip.peak_flops(grid.cores(), MathFidelity::hifi4);
    add_time("time", times.step);
    for (const auto& [name, part] : parts_of(times)) add_time(std::string(kStepTimes) + name, part);
    add("chips", job_.mesh.chips(), "chips", Better::lower);
    add("tokens", tokens / seconds, "1/s", Better::higher);
    add("mfu", mesh_step_flops(job_) / (peak * job_.mesh.chips() * seconds), "1", Better::higher);
    add("memory", static_cast<double>(times.peak.value()), "B", Better::lower);
    const Bytes over = times.peak - times.capacity;
    found_.details.emplace_back(
        "fits",
        times.peak <= times.capacity
            ? "yes"
            : fmt::format("over by {:.1f} GiB", static_cast<double>(over.value()) / (1 << 30)));
    found_.details.emplace_back("bound_by", largest_part(times));
    found_.details.emplace_back("basis", basis());
  }

 private:
  void add(std::string name, double value, std::string unit, Better better) {
    found_.metrics.push_back(
        {.name = std::move(name), .value = value, .unit = std::move(unit), .better = better});
  }
  void add_time(std::string name, SimTime time) {
    found_.metrics.push_back(
        {.name = std::move(name), .value = time.seconds(), .unit = "s", .virtual_time = time});
  }

  std::string basis() const {
    std::string text = fmt::format("step: emulated, {} engine", job_.traced ? "traced" : "dynamic");
    if (job_.mesh.ddp > 1 || job_.mesh.tp > 1) {
      text += "; collectives: published rates on a line, predicted beyond four chips";
    }
    if (job_.overlapped) text += "; overlap: a bound, nothing is published";
    if (job_.links > 1) text += fmt::format("; links {} times as fast", job_.links);
    if (job_.mesh.pp > 1) {
      text += job_.socket == Socket::mpi
                  ? "; between stages: published transfers, the network is not counted"
                  : "; between stages: one link, predicted";
    }
    return text;
  }

  std::shared_ptr<const DevBox> box_;
  MeshJob job_;
};

WhatIf change(std::string what, std::vector<Parameters> candidates, std::string reason) {
  WhatIf made{.what = std::move(what), .candidates = std::move(candidates), .reason = {}};
  if (made.candidates.empty()) made.reason = std::move(reason);
  return made;
}

/// Returns the same update in other micro-batches: so many times as many, each that much smaller,
/// or the other way round.
std::vector<Parameters> other_micro_batches(const Parameters& parameters, bool more) {
  const std::int64_t batch = count_of(parameters, "batch");
  const std::int64_t count = count_of(parameters, "micro_batches");
  std::vector<Parameters> candidates;
  for (const std::int64_t times : {2, 4, 8}) {
    const std::int64_t divided = more ? batch : count;
    if (divided % times != 0) continue;
    Parameters changes{{"batch", std::to_string(more ? batch / times : batch * times)},
                       {"micro_batches", std::to_string(more ? count * times : count / times)}};
    if (!obstacle_of(job_of(harness::changed(parameters, changes)))) {
      candidates.push_back(std::move(changes));
    }
  }
  return candidates;
}

/// Returns the numbers of chunks in which stages can interleave their blocks.
std::vector<Parameters> more_chunks(const Parameters& parameters) {
  std::vector<Parameters> candidates;
  for (const int chunks : {2, 4}) {
    Parameters changes{{"schedule", "1f1b"}, {"chunks", std::to_string(chunks)}};
    if (chunks != job_of(parameters).chunks &&
        !obstacle_of(job_of(harness::changed(parameters, changes)))) {
      candidates.push_back(std::move(changes));
    }
  }
  return candidates;
}

/// Returns all meshes of as many chips, with the schedules that stages can have. `stages` says
/// whether they may have several.
std::vector<Parameters> other_meshes(const Parameters& parameters, bool stages) {
  const MeshShape mesh = job_of(parameters).mesh;
  std::vector<Parameters> candidates;
  for (int ddp = 1; ddp <= mesh.chips(); ++ddp) {
    if (mesh.chips() % ddp != 0) continue;
    const int rest = mesh.chips() / ddp;
    for (int tp = 1; tp <= rest; ++tp) {
      const MeshShape other{ddp, tp, rest / tp};
      if (rest % tp != 0 || (other.pp > 1 && !stages) || mesh_text(other) == mesh_text(mesh)) {
        continue;
      }
      Parameters changes{{"mesh", mesh_text(other)}};
      if (other.pp == 1) {
        changes.emplace_back("schedule", "ttml");
      } else if (mesh.pp == 1) {
        changes.emplace_back("schedule", "1f1b");
      }
      if (!obstacle_of(job_of(harness::changed(parameters, changes)))) {
        candidates.push_back(std::move(changes));
      }
    }
  }
  return candidates;
}

std::vector<WhatIf> parallel_what_ifs(const Parameters& parameters) {
  const MeshJob job = job_of(parameters);
  const bool alone = job.mesh.chips() == 1;
  std::vector<WhatIf> changes{
      change("links twice as fast",
             alone || (job.mesh.ddp * job.mesh.tp == 1 && job.socket == Socket::mpi)
                 ? std::vector<Parameters>{}
                 : std::vector<Parameters>{{{"links", std::to_string(2 * job.links)}}},
             alone ? "one chip uses no link" : "all that is sent goes through the hosts"),
      change("sums of gradients beside the backward pass",
             job.overlapped || job.mesh.ddp == 1
                 ? std::vector<Parameters>{}
                 : std::vector<Parameters>{{{"overlap", "backward"}}},
             job.overlapped ? "they are so already" : "one group of chips sums no gradients"),
      set_axis("traced dispatch", parameters, "engine", "traced", "it is replayed already"),
      eth_dispatch(parameters),
      change("smaller micro-batches, more of them", other_micro_batches(parameters, true),
             "a micro-batch has no more sequences to divide"),
      change("larger micro-batches, fewer of them", other_micro_batches(parameters, false),
             "there is one micro-batch"),
      change("the same chips shared otherwise", other_meshes(parameters, true),
             alone ? "one chip shares nothing" : "no other mesh divides this model")};
  if (job.mesh.tp > 1) {
    changes.push_back(set_axis("loss of divided logits", parameters, "loss", "sharded",
                               "the logits stay divided already"));
    changes.push_back(set_axis("sequence parallelism", parameters, "sequence", "divided",
                               "the rows are divided already"));
  }
  if (job.mesh.pp == 1) return changes;
  changes.push_back(change("no stages, no bubble: the same chips by DDP and TP",
                           other_meshes(parameters, false), "no such mesh divides this model"));
  for (const char* const schedule : {"gpipe", "1f1b"}) {
    changes.push_back(set_axis(fmt::format("schedule {}", schedule), parameters, "schedule",
                               schedule, "it is the schedule already"));
  }
  changes.push_back(change("1f1b with the stages' blocks in interleaved chunks",
                           more_chunks(parameters),
                           "micro-batches in groups of the stages, and a block for each chunk"));
  changes.push_back(
      set_axis("stages over links", parameters, "socket", "fabric", "they use links already"));
  return changes;
}

harness::Axis mesh_axis(std::vector<std::string> values, std::vector<std::string> quick_values) {
  return {.name = "mesh",
          .meaning = "chips: groups that divide the batch x chips that divide the layers x stages",
          .values = std::move(values),
          .quick_values = std::move(quick_values),
          .canonical = [](std::string_view value) { return mesh_text(parse_mesh(value)); }};
}

class Parallel final : public harness::Experiment {
 public:
  explicit Parallel(std::shared_ptr<const DevBox> box) : box_(std::move(box)) {}

  std::string_view name() const override { return "parallel"; }
  std::string_view question() const override {
    return "What do several chips make of a Llama's training step, by DDP, TP and PP?";
  }

  std::vector<harness::Axis> axes(Backend backend) const override {
    if (backend == Backend::host) return {};
    using Values = std::vector<std::string>;
    const auto words = [](std::string name, std::string meaning, Values all, Values values) {
      return harness::word_axis(std::move(name), std::move(meaning), std::move(all),
                                std::move(values));
    };
    harness::Axis model =
        words("model", "of TTML's configuration files",
              {"nanollama3", "tinyllama", "llama3_2_1b", "llama8b"}, {"tinyllama", "llama8b"});
    model.quick_values = {"tinyllama"};
    return {
        std::move(model),
        mesh_axis({"1x1x1", "2x1x1", "1x2x1", "1x1x2", "8x1x1", "1x4x1", "2x4x1", "1x1x8", "2x2x2"},
                  {"1x1x1", "2x1x1", "1x2x1", "1x1x2"}),
        words("schedule", "of the stages: one micro-batch after the other, or several under way",
              {"ttml", "gpipe", "1f1b"}, {"ttml"}),
        count_axis("batch", "sequences of a micro-batch, over all groups", {"8"}, {"8"}),
        count_axis("micro_batches", "passes before each update", {"4"}, {"4"}),
        words("loss", "of logits that are gathered first, or that stay divided",
              {"gathered", "sharded"}, {"gathered"}),
        words("socket", "between stages: through the hosts, or over a link", {"mpi", "fabric"},
              {"mpi"}),
        dispatch_axis({"worker"}),
        harness::optional_axis(count_axis(
            "chunks", "of each stage's blocks, which 1f1b interleaves; not set: one", {}, {})),
        harness::optional_axis(words(
            "sequence",
            "rows between the layers of TP: divided among its chips, or, not set, on each chip",
            {"whole", "divided"}, {})),
        harness::optional_axis(words("engine",
                                     "traced: replays of captured steps; not set: call by call",
                                     {"dynamic", "traced"}, {})),
        harness::optional_axis(words(
            "overlap",
            "sums of gradients beside the backward pass (backward) or, not set, after it, as TTML",
            {"none", "backward"}, {})),
        harness::optional_axis(
            count_axis("links", "links are so many times as fast; not set: as published", {}, {}))};
  }

  harness::VirtualTiming timing() const override { return {.warmup = 0, .iterations = 0}; }

  harness::Presentation presentation() const override {
    return {.timed = "a training step of all chips",
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
            .plots = {},
            .bar_charts = {{.title = "A training step of several chips",
                            .label = "time",
                            .metric = "time",
                            .bars = {"model", "mesh", "schedule", "chunks"},
                            .parts = kStepTimes,
                            .rest = "rest"}}};
  }

  std::variant<std::unique_ptr<harness::Case>, NotApplicable> prepare(
      Backend /*backend*/, const Parameters& parameters) const override {
    const MeshJob job = job_of(parameters);
    if (auto obstacle = obstacle_of(job)) return NotApplicable{std::move(*obstacle)};
    return std::make_unique<ParallelFinding>(box_, job);
  }

  std::vector<WhatIf> what_ifs(const Parameters& parameters) const override {
    return parallel_what_ifs(parameters);
  }

 private:
  std::shared_ptr<const DevBox> box_;
};

}  // namespace

std::unique_ptr<harness::Experiment> parallel(std::shared_ptr<const DevBox> box) {
  return std::make_unique<Parallel>(std::move(box));
}

}  // namespace howard::experiments
