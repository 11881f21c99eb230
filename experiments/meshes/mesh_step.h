// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/autograd/optimizers/optimizer.h"
#include "engines/autograd/parameter.h"
#include "engines/mesh/pipeline_schedule.h"
#include "engines/models/llama.h"
#include "experiments/laboratory/devbox.h"
#include "profiler/step_times.h"

namespace howard::experiments {

/// Says how chips share a training: `ddp` groups divide the batch, the `tp` chips of a group divide
/// the layers, and the blocks are divided among `pp` stages that have a mesh of ddp x tp chips
/// each.
struct MeshShape {
  int ddp = 1;
  int tp = 1;
  int pp = 1;

  int chips() const { return ddp * tp * pp; }
};

/// Parses "2x4x1", DDP x TP x PP; numbers left out at the end are 1. Throws Error for anything
/// else, and for more than 1024 chips.
MeshShape parse_mesh(std::string_view value);
std::string mesh_text(const MeshShape& mesh);

/// Says how activations get from stage to stage.
enum class Socket : std::uint8_t {
  mpi,     ///< TTML's socket_type mpi: the host reads them and writes them to the other chip.
  fabric,  ///< They go over a link between the chips.
};

/// Makes the optimizer of a chip's parameters.
using MakeOptimizer = std::function<std::unique_ptr<autograd::Optimizer>(
    const autograd::Calls&, std::vector<autograd::Parameter*>)>;

/// Describes a step of a training on several chips.
struct MeshJob {
  models::ModelOptions model;  ///< Its batch is that of a micro-batch, over all groups.
  MeshShape mesh;
  /// The blocks of each stage; if empty, they are divided evenly, and the first stages have the
  /// rest.
  std::vector<int> blocks{};
  mesh::PipelineSchedule schedule{};
  int chunks = 1;  ///< The chunks of each stage's blocks, which 1F1B interleaves.
  int micro_batches = 1;
  Socket socket{};
  chip::DispatchCoreType dispatch{};
  bool traced = false;  ///< The chips replay captured steps; otherwise they run call by call.
  /// Each sum of gradients starts as soon as its gradient exists, beside the passes; otherwise all
  /// follow the passes, as in TTML.
  bool overlapped = false;
  int links = 1;                   ///< The links are so many times as fast as the published ones.
  MakeOptimizer make_optimizer{};  ///< Empty for MorehAdamW.
};

/// Returns why a mesh cannot run a job, as "3 groups of heads cannot be divided by 2 chips";
/// absent if it can.
std::optional<std::string> mesh_obstacle(const MeshJob& job);

/// Returns the rows of the token table: the vocabulary in whole tiles of each chip of a group.
std::int64_t vocabulary_of(const MeshJob& job);

/// Says what the chips of one stage do in a step, and what they need.
struct StageNeed {
  int blocks = 0;
  SimTime working;  ///< Passes and update, with the sending between stages.
  SimTime bubble;   ///< The rest of the step: it waits for other stages.
  int alive = 1;    ///< The most micro-batches, each in one chunk, that it holds at once.
  Bytes peak;       ///< DRAM of a chip.
};

/// Says where the time of a step goes, as the mean over the chips, and what DRAM it needs.
struct MeshStep {
  profiler::StepTimes times;
  Bytes peak;      ///< DRAM of the chip that needs most.
  Bytes capacity;  ///< DRAM of a chip, without its trace region.
  std::vector<StageNeed> stages{};
};

/// Runs a step of each kind of chip on an emulated chip with DRAM without end, by the dynamic
/// engine unless it is traced. Each has a host thread of its own. Within a stage all chips do the
/// same, so one stands for all. There must be no obstacle to the job.
MeshStep mesh_step(const DevBox& box, const MeshJob& job);

/// Returns the steps of `job` with each of `schedules`, for which the stages run only once. Without
/// stages all are the same. Several chunks have 1F1B alone.
std::vector<MeshStep> mesh_steps(const DevBox& box, const MeshJob& job,
                                 std::span<const mesh::PipelineSchedule> schedules);

/// Returns the floating-point operations of a step as TTML counts them: 6 P + 12 L H hd S for each
/// token, without what is computed twice.
double mesh_step_flops(const MeshJob& job);

}  // namespace howard::experiments
