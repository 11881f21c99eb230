// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engines/mesh/pipeline_schedule.h"
#include "engines/models/llama.h"
#include "experiments/workloads/devbox.h"

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

/// Describes a step of a training on several chips.
struct MeshJob {
  models::LlamaOptions model;  ///< Its batch is that of a micro-batch, over all groups.
  MeshShape mesh;
  mesh::PipelineSchedule schedule{};
  int micro_batches = 1;
  Socket socket{};
  wormhole::DispatchCoreType dispatch{};
};

/// Returns why a mesh cannot run a job, as "3 groups of heads cannot be divided by 2 chips";
/// absent if it can.
std::optional<std::string> mesh_obstacle(const MeshJob& job);

/// Returns the rows of the token table: the vocabulary in whole tiles of each chip of a group.
std::int64_t vocabulary_of(const MeshJob& job);

/// Says where the time of a step goes. All but `step` are means over the chips, and add up to it.
struct MeshStepTimes {
  SimTime step;
  SimTime compute;   ///< Kernels that compute.
  SimTime exchange;  ///< Collectives, and sending from stage to stage; nothing else ran then.
  SimTime bubble;    ///< The chip waited for other stages.
  SimTime host;      ///< The rest: the host, the dispatcher and the gaps between programs.
  Bytes peak;        ///< DRAM of the chip that needs most.
  Bytes capacity;    ///< DRAM of a chip, without its trace region.
};

/// Runs a step of each kind of chip on an emulated chip with DRAM without end, by the dynamic
/// engine and with MorehAdamW. Each has a host thread of its own. Within a stage all chips do the
/// same, so one stands for all. There must be no obstacle to the job.
MeshStepTimes mesh_step(const DevBox& box, const MeshJob& job);

/// Returns the floating-point operations of a step as TTML counts them: 6 P + 12 L H hd S for each
/// token, without what is computed twice.
double mesh_step_flops(const MeshJob& job);

}  // namespace howard::experiments
