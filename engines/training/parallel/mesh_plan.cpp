// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/mesh_plan.h"

namespace howard::training {

std::vector<std::vector<int>> groups_of(const MeshPlan& plan, int rank) {
  if (plan.workers > 0) return {{rank}, {rank}};
  const MeshPlace place(plan, rank);
  const int first = place.stage * plan.ddp * plan.tp;
  std::vector<int> layers, batch;
  for (int i = 0; i < plan.tp; ++i) layers.push_back(first + place.row * plan.tp + i);
  for (int i = 0; i < plan.ddp; ++i) batch.push_back(first + i * plan.tp + place.column);
  return {layers, batch};
}

}  // namespace howard::training
