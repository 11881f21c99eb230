// SPDX-License-Identifier: Apache-2.0
//
// Question: what do several chips make of a training step of a Llama, shared in TTML's three ways?
//
//   data parallel (DDP)      groups of chips divide the batch, and average their gradients after
//                            the backward pass: an all_reduce and a product for each parameter
//   tensor parallel (TP)     the chips of a group divide heads, feed-forward columns and
//                            vocabulary, and sum activations behind each half of a block and
//                            their gradients before it
//   pipeline parallel (PP)   stages divide the blocks, and send activations forward and gradients
//                            back; TTML runs one micro-batch after the other, GPipe and 1F1B let
//                            several be under way
//
// Collectives are programs of the emulated chip like any other (chip_links.h has their times): an
// all_reduce is a reduce_scatter and an all_gather, as in TTML. Chips lie on a line, on which a
// group's links are its own. Stages are played on a clock of their own from the times of their
// passes (pipeline_schedule.h). Where the time goes is the mean over the chips: kernels that
// compute, exchanges that nothing hides, the bubble in which a stage waits, and the host with all
// other gaps. Nothing published times such steps, so all of it is predicted.
//
// Timing: nothing is timed in repetitions; the time is that of a step whose programs have been
// planned before, from an idle chip to an idle chip, by the dynamic engine with MorehAdamW.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/all.h"
#include "experiments/workloads/axes.h"
#include "experiments/workloads/finding.h"
#include "experiments/workloads/llama_training.h"
#include "experiments/workloads/mesh_step.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::Better;
using harness::CellSource;
using harness::find_parameter;
using harness::NotApplicable;
using harness::Parameters;

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
  return job;
}

/// Returns the name of what takes most of a step.
std::string largest_part(const MeshStepTimes& times) {
  const std::pair<SimTime, const char*> parts[] = {{times.compute, "kernels"},
                                                   {times.exchange, "exchange"},
                                                   {times.bubble, "bubble"},
                                                   {times.host, "host"}};
  return std::ranges::max(parts, {}, [](const auto& part) { return part.first; }).second;
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
    add_time("compute_time", times.compute);
    add_time("exchange_time", times.exchange);
    add_time("bubble_time", times.bubble);
    add_time("host_time", times.host);
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
    std::string text = "step: emulated, dynamic engine";
    if (job_.mesh.ddp > 1 || job_.mesh.tp > 1) {
      text += "; collectives: published rates on a line, predicted beyond four chips";
    }
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
        dispatch_axis({"worker"})};
  }

  harness::VirtualTiming timing() const override { return {.warmup = 0, .iterations = 0}; }

  harness::Presentation presentation() const override {
    return {.timed = "a training step of all chips",
            .columns = {{"model", CellSource::parameter, "model"},
                        {"mesh", CellSource::parameter, "mesh"},
                        {"schedule", CellSource::parameter, "schedule"},
                        {"batch", CellSource::parameter, "batch"},
                        {"micro", CellSource::parameter, "micro_batches"},
                        {"loss", CellSource::parameter, "loss"},
                        {"socket", CellSource::parameter, "socket"},
                        {"dispatch", CellSource::parameter, "dispatch"},
                        {"time", CellSource::metric, "time"},
                        {"compute", CellSource::metric, "compute_time"},
                        {"exchange", CellSource::metric, "exchange_time"},
                        {"bubble", CellSource::metric, "bubble_time"},
                        {"host", CellSource::metric, "host_time"},
                        {"tokens", CellSource::metric, "tokens"},
                        {"of peak", CellSource::metric, "mfu"},
                        {"DRAM", CellSource::metric, "memory"},
                        {"fits", CellSource::detail, "fits"},
                        {"bound by", CellSource::detail, "bound_by"},
                        {"basis", CellSource::detail, "basis"}},
            .plots = {},
            .bar_charts = {{.title = "A training step of several chips",
                            .label = "time",
                            .metric = "time",
                            .bars = {"model", "mesh"},
                            .parts = "",
                            .rest = ""}}};
  }

  std::variant<std::unique_ptr<harness::Case>, NotApplicable> prepare(
      Backend /*backend*/, const Parameters& parameters) const override {
    const MeshJob job = job_of(parameters);
    if (auto obstacle = mesh_obstacle(job)) return NotApplicable{std::move(*obstacle)};
    if (job.mesh.pp == 1 && job.schedule != mesh::PipelineSchedule::sequential) {
      return NotApplicable{"one stage has no schedule"};
    }
    return std::make_unique<ParallelFinding>(box_, job);
  }

 private:
  std::shared_ptr<const DevBox> box_;
};

}  // namespace

std::unique_ptr<harness::Experiment> parallel(std::shared_ptr<const DevBox> box) {
  return std::make_unique<Parallel>(std::move(box));
}

}  // namespace howard::experiments
