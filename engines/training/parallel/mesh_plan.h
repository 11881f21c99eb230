// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/mesh/pipeline_schedule.h"

namespace howard::training {

/// How several devices share a training run. Each device is a rank.
///
/// Either the stages of a pipeline divide the blocks, and the devices of each stage, a mesh of ddp
/// x tp, divide the batch and the layers; or, with workers, tiers: each worker computes gradients
/// of batches of its own, the aggregator averages them, and the optimizer's rank, which may be the
/// aggregator's, updates.
struct MeshPlan {
  int ddp = 1;
  int tp = 1;
  std::vector<int> blocks{};  ///< Of each stage; none: one stage has all.
  mesh::PipelineSchedule schedule = mesh::PipelineSchedule::sequential;
  int workers = 0;           ///< 0: no tiers.
  bool three_tiers = false;  ///< With workers: whether the optimizer has a rank of its own.

  int stages() const { return blocks.empty() ? 1 : static_cast<int>(blocks.size()); }
  int ranks() const { return workers > 0 ? workers + (three_tiers ? 2 : 1) : ddp * tp * stages(); }

  friend bool operator==(const MeshPlan&, const MeshPlan&) = default;
};

/// Where a rank is in a plan without tiers. Ranks count along a group, then along the groups of a
/// stage, then along the stages.
struct MeshPlace {
  MeshPlace(const MeshPlan& plan, int rank)
      : stage(rank / (plan.ddp * plan.tp)),
        row(rank / plan.tp % plan.ddp),
        column(rank % plan.tp) {}

  int stage;   ///< Of the pipeline.
  int row;     ///< Which share of the batch.
  int column;  ///< Which share of the layers.
};

/// Returns the groups of a rank for MeshMember: 0, those with whom it divides the layers, and 1,
/// those with whom it divides the batch.
std::vector<std::vector<int>> groups_of(const MeshPlan& plan, int rank);

}  // namespace howard::training
