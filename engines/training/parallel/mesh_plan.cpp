// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/mesh_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"

namespace howard::training {

std::vector<int> even_blocks(int layers, int stages) {
  std::vector<int> blocks;
  for (int i = 0; i < stages; ++i) {
    blocks.push_back(layers / stages + (i < layers % stages ? 1 : 0));
  }
  return blocks;
}

std::vector<std::vector<int>> groups_of(const MeshPlan& plan, int rank) {
  const MeshPlace place(plan, rank);
  const auto at = [&](int row, int shard, int column) {
    return ((place.stage * plan.ddp + row) * plan.fsdp + shard) * plan.tp + column;
  };
  std::vector<int> layers, copies, shares;
  for (int i = 0; i < plan.tp; ++i) layers.push_back(at(place.row, place.shard, i));
  for (int i = 0; i < plan.ddp; ++i) copies.push_back(at(i, place.shard, place.column));
  for (int i = 0; i < plan.fsdp; ++i) shares.push_back(at(place.row, i, place.column));
  return {layers, copies, shares};
}

void require_chunks(const MeshPlan& plan, int micro_batches) {
  if (plan.chunks == 1) return;
  const auto refuse = [&](std::string value, std::string accepted) {
    throw Error({.attempted = fmt::format("interleave {} chunks of each stage", plan.chunks),
                 .value = std::move(value),
                 .accepted = std::move(accepted)});
  };
  if (plan.stages() > 1 && micro_batches % plan.stages() != 0) {
    refuse(fmt::format("{} micro-batches", micro_batches),
           fmt::format("gradient_accumulation_steps that the {} stages divide", plan.stages()));
  }
  if (!plan.order(micro_batches).is_possible()) {
    refuse(fmt::format("{} stages, schedule {}", plan.stages(), mesh::name_of(plan.schedule)),
           "several stages and schedule 1f1b");
  }
  const int fewest = std::ranges::min(plan.blocks);
  if (fewest >= plan.chunks) return;
  refuse(fmt::format("a stage of {} block{}", fewest, fewest == 1 ? "" : "s"),
         "a block for each chunk");
}

}  // namespace howard::training
