// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/mesh/pipeline_schedule.h"

namespace howard::training {

/// Says how several devices share a training run. Each device is a rank.
///
/// Without workers, the stages of a pipeline divide the blocks, and the devices of each stage, a
/// mesh of ddp x fsdp x tp, divide the batch, the batch with the parameters, and the layers. With
/// workers, there are tiers: each worker computes gradients of batches of its own, the aggregator
/// averages them, and the optimizer's host, which may be the aggregator's, updates. Each of them is
/// a mesh of ddp x tp.
struct MeshPlan {
  int ddp = 1;
  int fsdp = 1;       ///< The devices of a stage that divide each parameter.
  bool lazy = false;  ///< Parameters that devices divide are never whole on each of them.
  int tp = 1;
  bool sequence_parallel = false;  ///< A group divides the rows of a Llama's residual stream too.
  std::vector<int> blocks{};       ///< The blocks of each stage; if empty, one stage has all.
  mesh::PipelineSchedule schedule = mesh::PipelineSchedule::sequential;
  /// Cuts the blocks of each stage into so many chunks, which 1F1B interleaves.
  int chunks = 1;
  /// The stages' sockets are TTML's fabric sockets, over links between chips: for plans, as the
  /// numbers are the same.
  bool fabric = false;
  int workers = 0;           ///< 0 means no tiers.
  bool three_tiers = false;  ///< If true, the optimizer has a rank of its own.

  int stages() const { return blocks.empty() ? 1 : static_cast<int>(blocks.size()); }
  /// Returns the hosts that share the run: stages, or the ranks of tiers.
  int hosts() const { return workers > 0 ? workers + (three_tiers ? 2 : 1) : stages(); }
  /// Returns the devices of a stage, or of a rank of tiers.
  int devices() const { return ddp * fsdp * tp; }
  /// Returns the devices of a stage that divide the batch.
  int batch_shares() const { return ddp * fsdp; }
  int ranks() const { return hosts() * devices(); }
  /// Returns the work of the stages in a step.
  mesh::PipelineOrder order(int micro_batches) const {
    return {schedule, stages(), micro_batches, chunks};
  }

  friend bool operator==(const MeshPlan&, const MeshPlan&) = default;
};

/// Says where a rank is in a plan. Ranks count along a group that divides layers, then along one
/// that divides parameters, then along the copies of the model, then along the hosts.
struct MeshPlace {
  MeshPlace(const MeshPlan& plan, int rank)
      : stage(rank / plan.devices()),
        row(rank / (plan.fsdp * plan.tp) % plan.ddp),
        shard(rank / plan.tp % plan.fsdp),
        column(rank % plan.tp) {}

  int stage;   ///< The stage of the pipeline, or the rank of tiers.
  int row;     ///< The copy of the model.
  int shard;   ///< The share of its parameters.
  int column;  ///< The share of the layers.
};

/// Returns the blocks of each of so many stages, as equal as possible; the first ones have the
/// rest.
std::vector<int> even_blocks(int layers, int stages);

/// Returns the groups of a rank for MeshMember: group 0 divides the layers, the devices of group 1
/// have copies of the same parameters, and group 2 divides the parameters.
std::vector<std::vector<int>> groups_of(const MeshPlan& plan, int rank);

/// Throws Error unless the stages of a plan can interleave its chunks with so many micro-batches:
/// by 1F1B, in whole groups of micro-batches, with a block for each chunk.
void require_chunks(const MeshPlan& plan, int micro_batches);

}  // namespace howard::training
