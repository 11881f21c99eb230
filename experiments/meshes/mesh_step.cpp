// SPDX-License-Identifier: Apache-2.0
#include "experiments/meshes/mesh_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/chip_links.h"
#include "experiments/meshes/mesh_chip.h"

namespace howard::experiments {
namespace {

using profiler::StepTimes;

/// Returns the box with links that are so many times as fast.
std::shared_ptr<const DevBox> with_links(const DevBox& box, int times) {
  chip::Profiles profiles = box.profiles();
  chip::CollectiveCosts& costs = profiles.software.collectives;
  costs.gather_link = costs.gather_link * times;
  costs.scatter_link = costs.scatter_link * times;
  return box.with(profiles);
}

MeshStep step_without_stages(const DevBox& box, const MeshJob& job) {
  MeshChip chip(box, job, 0, job.model.layers);
  StepTimes step = chip.whole_step(1);
  if (job.micro_batches > 1) step = extended(step, chip.whole_step(2), job.micro_batches);
  return {.times = step,
          .peak = chip.peak(),
          .capacity = {},
          .stages = {{.blocks = job.model.layers, .working = step.time, .peak = chip.peak()}}};
}

/// Holds what the chips of one stage do for one part of the blocks.
struct Part {
  StageWork work;
  SimTime send;
  Bytes peak;
};

SimTime socket_time(const chip::Profiles& profiles, Socket socket, Bytes size) {
  return socket == Socket::mpi ? chip::message_time(profiles, size)
                               : chip::send_time(profiles, size);
}

Part part_of(const DevBox& box, const MeshJob& job, int first, int end) {
  MeshChip chip(box, job, first, end);
  Part part{.work = chip.stage()};
  part.send = socket_time(box.profiles(), job.socket, part.work.activations);
  part.peak = chip.peak();
  return part;
}

/// A fabric socket receives into a ring buffer of this size in the chip's DRAM, as TTML sets it up.
constexpr Bytes kFabricRing{80'000'000};

/// Returns the DRAM of a stage's sockets: a ring for activations and one for gradients, if it
/// receives any. That each has a ring of its own is assumed.
Bytes ring_buffers(const MeshJob& job, int stage) {
  if (job.socket != Socket::fabric) return {};
  const bool around = job.chunks > 1;  // the first stage then follows the last one
  const bool activations = stage > 0 || around;
  const bool gradients = stage + 1 < job.mesh.pp || around;
  return kFabricRing * ((activations ? 1 : 0) + (gradients ? 1 : 0));
}

std::vector<int> blocks_of(const MeshJob& job) {
  if (!job.blocks.empty()) return job.blocks;
  std::vector<int> blocks;
  for (int i = 0; i < job.mesh.pp; ++i) {
    blocks.push_back(job.model.layers / job.mesh.pp + (i < job.model.layers % job.mesh.pp ? 1 : 0));
  }
  return blocks;
}

/// Returns all parts. Those in the middle with equally many blocks are equal.
std::vector<Part> parts_of(const DevBox& box, const MeshJob& job, const std::vector<int>& blocks) {
  std::map<std::tuple<bool, bool, int>, Part> known;
  std::vector<Part> parts;
  int first = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const int end = first + blocks[i];
    const std::tuple key(i == 0, i + 1 == blocks.size(), end - first);
    auto found = known.find(key);
    if (found == known.end()) found = known.emplace(key, part_of(box, job, first, end)).first;
    parts.push_back(found->second);
    first = end;
  }
  return parts;
}

/// Returns the most DRAM that a chip of stage `stage` has in use: what rests of all its chunks,
/// what it keeps of other passes, and the pass itself.
Bytes peak_of(const mesh::PipelineOrder& order, int stage, const std::vector<Part>& parts) {
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

MeshStep step_of_stages(const std::vector<Part>& parts, const std::vector<int>& blocks,
                        const MeshJob& job, mesh::PipelineSchedule schedule) {
  const mesh::PipelineOrder order{.schedule = schedule,
                                  .stages = job.mesh.pp,
                                  .micro_batches = job.micro_batches,
                                  .chunks = job.chunks};
  std::vector<mesh::PassTimes> times;
  for (const Part& part : parts) {
    times.push_back({part.work.forward.time, part.work.backward.time, part.send});
  }
  const auto count = static_cast<std::size_t>(order.stages);
  const auto accounts = mesh::run_pipeline(order, times);
  std::vector<SimTime> updates(count);
  std::vector<StageNeed> stages(count);
  StepTimes sum;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const StageWork& work = parts[i].work;
    sum = sum + (work.forward + work.backward) * order.micro_batches + work.update;
    updates[i % count] += work.update.time;
    stages[i % count].blocks += blocks[i];
  }
  MeshStep result;
  StepTimes& step = result.times;
  for (std::size_t i = 0; i < count; ++i) {
    step.time = std::max(step.time, accounts[i].end + updates[i]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    StageNeed& need = stages[i];
    sum.exchange += accounts[i].sending;
    need.working = accounts[i].computing + accounts[i].sending + updates[i];
    need.bubble = step.time - need.working;
    need.alive = mesh::most_alive(order, static_cast<int>(i));
    need.peak = peak_of(order, static_cast<int>(i), parts) + ring_buffers(job, static_cast<int>(i));
    sum.bubble += need.bubble;
    result.peak = std::max(result.peak, need.peak);
  }
  const auto mean = [&](SimTime all) { return SimTime::picoseconds(all.ps() / order.stages); };
  step.compute = mean(sum.compute);
  step.exchange = mean(sum.exchange);
  step.bubble = mean(sum.bubble);
  result.stages = std::move(stages);
  return result;
}

/// Returns why the chunks of stages cannot be interleaved.
std::optional<std::string> chunk_obstacle(const MeshJob& job) {
  if (job.chunks == 1) return std::nullopt;
  if (job.schedule != mesh::PipelineSchedule::one_forward_one_back) {
    return "chunks are interleaved by schedule 1f1b alone";
  }
  if (job.mesh.pp == 1) return "one stage has nothing to interleave";
  if (job.micro_batches % job.mesh.pp != 0) {
    return fmt::format("{} micro-batches cannot be divided by {} stages with chunks",
                       job.micro_batches, job.mesh.pp);
  }
  const int fewest = std::ranges::min(blocks_of(job));
  if (fewest >= job.chunks) return std::nullopt;
  return fmt::format("{} block{} of a stage cannot be divided by {} chunks", fewest,
                     fewest == 1 ? "" : "s", job.chunks);
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
  const models::ModelOptions& model = job.model;
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
  const std::int64_t tiles = kTileSide * tp;
  if (model.sequence_parallel && tp > 1 && model.sequence % tiles != 0) {
    return refuse(model.sequence, "rows of a sequence", tp, "chips in whole tiles");
  }
  if (model.layers < pp) return refuse(model.layers, "blocks", pp, "stages");
  if (model.tied && (tp > 1 || pp > 1)) {
    return "the head is the token table, which is on each chip";
  }
  return chunk_obstacle(job);
}

std::int64_t vocabulary_of(const MeshJob& job) {
  const std::int64_t rows = kTileSide * job.mesh.tp;
  return ceil_div(job.model.vocabulary, rows) * rows;
}

std::vector<MeshStep> mesh_steps(const DevBox& box, const MeshJob& job,
                                 std::span<const mesh::PipelineSchedule> schedules) {
  const auto linked = with_links(box, job.links);
  std::vector<MeshStep> steps;
  if (job.mesh.pp == 1) {
    steps.assign(schedules.size(), step_without_stages(*linked, job));
  } else {
    const std::vector<int> blocks = mesh::blocks_of_parts(blocks_of(job), job.chunks);
    const std::vector<Part> parts = parts_of(*linked, job, blocks);
    for (const mesh::PipelineSchedule schedule : schedules) {
      steps.push_back(step_of_stages(parts, blocks, job, schedule));
    }
  }
  for (MeshStep& step : steps) {
    step.capacity = box.profiles().chip.dram_capacity - box.profiles().software.trace_region;
  }
  return steps;
}

MeshStep mesh_step(const DevBox& box, const MeshJob& job) {
  return mesh_steps(box, job, std::span(&job.schedule, 1)).front();
}

double mesh_step_flops(const MeshJob& job) {
  models::ModelOptions whole = job.model;
  whole.vocabulary = vocabulary_of(job);
  const double attention =
      12.0 * whole.layers * static_cast<double>(whole.width) * static_cast<double>(whole.sequence);
  return (6 * static_cast<double>(models::parameter_count(whole)) + attention) *
         static_cast<double>(whole.batch * whole.sequence * job.micro_batches);
}

}  // namespace howard::experiments
