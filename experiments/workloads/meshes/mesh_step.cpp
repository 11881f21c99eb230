// SPDX-License-Identifier: Apache-2.0
#include "experiments/workloads/meshes/mesh_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/wormhole/chip_links.h"
#include "experiments/workloads/meshes/mesh_chip.h"

namespace howard::experiments {
namespace {

KernelTimes operator+(const KernelTimes& a, const KernelTimes& b) {
  return {a.compute + b.compute, a.exchange + b.exchange};
}

KernelTimes operator*(const KernelTimes& a, int count) {
  return {a.compute * count, a.exchange * count};
}

/// Returns the box with links that are so many times as fast.
std::shared_ptr<const DevBox> with_links(const DevBox& box, int times) {
  wormhole::Profiles profiles = box.profiles();
  wormhole::CollectiveCosts& costs = profiles.software.collectives;
  costs.gather_link = costs.gather_link * times;
  costs.scatter_link = costs.scatter_link * times;
  return box.with(profiles);
}

/// Returns the time of a step of `count` micro-batches, each after the second like it.
StepPart extended(const StepPart& one, const StepPart& two, int count) {
  const auto more = [&](SimTime a, SimTime b) { return b + (b - a) * (count - 2); };
  return {more(one.time, two.time),
          {more(one.kernels.compute, two.kernels.compute),
           more(one.kernels.exchange, two.kernels.exchange)}};
}

MeshStepTimes step_without_stages(const DevBox& box, const MeshJob& job) {
  MeshChip chip(box, job, 0, job.model.layers);
  StepPart step = chip.whole_step(1);
  if (job.micro_batches > 1) step = extended(step, chip.whole_step(2), job.micro_batches);
  MeshStepTimes times{.step = step.time,
                      .compute = step.kernels.compute,
                      .exchange = step.kernels.exchange,
                      .peak = chip.peak()};
  times.host = times.step - times.compute - times.exchange;
  times.stages = {{.blocks = job.model.layers, .working = times.step, .peak = times.peak}};
  return times;
}

/// Holds what the chips of one stage do.
struct Stage {
  StageWork work;
  SimTime send;
  Bytes peak;
};

SimTime socket_time(const wormhole::Profiles& profiles, Socket socket, Bytes size) {
  if (socket == Socket::mpi) {
    return transfer_time(size, profiles.chip.pcie_read) + profiles.software.host_finish +
           transfer_time(size, profiles.chip.pcie_write);
  }
  return wormhole::send_time(profiles, size);
}

Stage stage_of(const DevBox& box, const MeshJob& job, int first, int end) {
  MeshChip chip(box, job, first, end);
  Stage stage{.work = chip.stage()};
  stage.send = socket_time(box.profiles(), job.socket, stage.work.activations);
  stage.peak = chip.peak();
  return stage;
}

std::vector<int> blocks_of(const MeshJob& job) {
  if (!job.blocks.empty()) return job.blocks;
  std::vector<int> blocks;
  for (int i = 0; i < job.mesh.pp; ++i) {
    blocks.push_back(job.model.layers / job.mesh.pp + (i < job.model.layers % job.mesh.pp ? 1 : 0));
  }
  return blocks;
}

/// Returns all stages. Those in the middle with equally many blocks are equal.
std::vector<Stage> stages_of(const DevBox& box, const MeshJob& job,
                             const std::vector<int>& blocks) {
  std::map<std::tuple<bool, bool, int>, Stage> known;
  std::vector<Stage> stages;
  int first = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const int end = first + blocks[i];
    const std::tuple key(i == 0, i + 1 == blocks.size(), end - first);
    auto found = known.find(key);
    if (found == known.end()) found = known.emplace(key, stage_of(box, job, first, end)).first;
    stages.push_back(found->second);
    first = end;
  }
  return stages;
}

MeshStepTimes step_of_stages(const std::vector<Stage>& stages, const std::vector<int>& blocks,
                             const MeshJob& job, mesh::PipelineSchedule schedule) {
  std::vector<mesh::StageTimes> times;
  for (const Stage& stage : stages) {
    times.push_back({stage.work.forward.time, stage.work.backward.time, stage.send});
  }
  const int count = job.mesh.pp;
  const auto accounts = mesh::run_pipeline(schedule, times, job.micro_batches);
  MeshStepTimes result;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    result.step = std::max(result.step, accounts[i].end + stages[i].work.update.time);
  }
  SimTime compute, exchange, bubble;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageWork& work = stages[i].work;
    const KernelTimes kernels =
        (work.forward.kernels + work.backward.kernels) * job.micro_batches + work.update.kernels;
    compute += kernels.compute;
    exchange += kernels.exchange + accounts[i].sending;
    StageNeed need{.blocks = blocks[i]};
    need.working = accounts[i].computing + accounts[i].sending + work.update.time;
    need.bubble = result.step - need.working;
    need.alive = mesh::most_alive(schedule, count, static_cast<int>(i), job.micro_batches);
    need.peak = stages[i].peak + (need.alive - 1) * work.kept;
    bubble += need.bubble;
    result.peak = std::max(result.peak, need.peak);
    result.stages.push_back(need);
  }
  const auto mean = [&](SimTime sum) { return SimTime::picoseconds(sum.ps() / count); };
  result.compute = mean(compute);
  result.exchange = mean(exchange);
  result.bubble = mean(bubble);
  result.host = result.step - result.compute - result.exchange - result.bubble;
  return result;
}

}  // namespace

MeshShape parse_mesh(std::string_view value) {
  const std::vector<std::string> words = split(value, 'x');
  std::array<int, 3> sides{1, 1, 1};
  constexpr std::int64_t kMostChips = 1024;
  bool fits = words.size() <= sides.size();
  for (std::size_t i = 0; fits && i < words.size(); ++i) {
    const auto side = parse_integer(words[i]);
    fits = side && *side >= 1 && *side <= kMostChips;
    if (fits) sides.at(i) = static_cast<int>(*side);
  }
  const MeshShape mesh{sides[0], sides[1], sides[2]};
  if (fits && std::int64_t{mesh.ddp} * mesh.tp * mesh.pp <= kMostChips) return mesh;
  throw Error({.attempted = "set axis mesh",
               .value = "'" + std::string(value) + "'",
               .accepted = "DDPxTPxPP, of 1024 chips at most",
               .hint = "-a mesh=2x4x1"});
}

std::string mesh_text(const MeshShape& mesh) {
  return fmt::format("{}x{}x{}", mesh.ddp, mesh.tp, mesh.pp);
}

std::optional<std::string> mesh_obstacle(const MeshJob& job) {
  const models::LlamaOptions& model = job.model;
  const auto refuse = [](std::int64_t size, std::string_view what, int by, std::string_view who) {
    return fmt::format("{} {} cannot be divided by {} {}", size, what, by, who);
  };
  const auto [ddp, tp, pp] = job.mesh;
  const std::int64_t wide =
      model.feed_forward > 0 ? model.feed_forward : models::feed_forward_of(model.width);
  if (model.batch % ddp != 0) return refuse(model.batch, "sequences", ddp, "groups of chips");
  if (model.heads % tp != 0) return refuse(model.heads, "heads", tp, "chips");
  if (model.groups % tp != 0) return refuse(model.groups, "groups of heads", tp, "chips");
  if (wide % tp != 0) {
    return refuse(wide, "columns of the feed-forward part", tp, "chips");
  }
  if (model.layers < pp) return refuse(model.layers, "blocks", pp, "stages");
  if (model.tied && (tp > 1 || pp > 1)) {
    return "the head is the token table, which is on each chip";
  }
  return std::nullopt;
}

std::int64_t vocabulary_of(const MeshJob& job) {
  const std::int64_t rows = kTileSide * job.mesh.tp;
  return ceil_div(job.model.vocabulary, rows) * rows;
}

std::vector<MeshStepTimes> mesh_steps(const DevBox& box, const MeshJob& job,
                                      std::span<const mesh::PipelineSchedule> schedules) {
  const auto linked = with_links(box, job.links);
  std::vector<MeshStepTimes> steps;
  if (job.mesh.pp == 1) {
    steps.assign(schedules.size(), step_without_stages(*linked, job));
  } else {
    const std::vector<int> blocks = blocks_of(job);
    const std::vector<Stage> stages = stages_of(*linked, job, blocks);
    for (const mesh::PipelineSchedule schedule : schedules) {
      steps.push_back(step_of_stages(stages, blocks, job, schedule));
    }
  }
  for (MeshStepTimes& step : steps) {
    step.capacity = box.profiles().chip.dram_capacity - box.profiles().software.trace_region;
  }
  return steps;
}

MeshStepTimes mesh_step(const DevBox& box, const MeshJob& job) {
  return mesh_steps(box, job, std::span(&job.schedule, 1)).front();
}

double mesh_step_flops(const MeshJob& job) {
  models::LlamaOptions whole = job.model;
  whole.vocabulary = vocabulary_of(job);
  const double attention =
      12.0 * whole.layers * static_cast<double>(whole.width) * static_cast<double>(whole.sequence);
  return (6 * static_cast<double>(models::parameter_count(whole)) + attention) *
         static_cast<double>(whole.batch * whole.sequence * job.micro_batches);
}

}  // namespace howard::experiments
