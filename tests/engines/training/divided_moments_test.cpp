// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engines/training/mesh_runs.h"

namespace howard::training {
namespace {

using mesh_runs::distance_of;

/// An AdamW that does not turn roundings of small gradients into whole steps.
Recipe with_moments() {
  Recipe recipe = mesh_runs::small_llama();
  recipe.optimizer.kind = OptimizerKind::adamw;
  recipe.optimizer.learning_rate = 0.01F;
  recipe.optimizer.adamw.epsilon = 1e-3F;
  return recipe;
}

/// Returns a checkpoint in which the halves of each moment have changed places.
Checkpoint with_broken_shards(Checkpoint checkpoint) {
  for (NamedValues& tensor : checkpoint.tensors) {
    if (tensor.name.find(' ') == std::string::npos) continue;
    std::ranges::rotate(tensor.values, tensor.values.begin() + std::ssize(tensor.values) / 2);
  }
  return checkpoint;
}

// The loss of the first step after a checkpoint does not depend on moments; what later steps make
// of the parameters does.

TEST(DividedMoments, GoOnFromEachCheckpointToTheEndOfOneDevice) {
  const Recipe recipe = with_moments();
  const Checkpoint begun = mesh_runs::run({}, recipe, 3).end;
  const Checkpoint end = mesh_runs::run({}, recipe, 3, &begun).end;
  for (const MeshPlan& plan : {MeshPlan{.fsdp = 2}, {.fsdp = 4, .lazy = true}}) {
    const Checkpoint saved = mesh_runs::run(plan, recipe, 3).end;
    EXPECT_LT(distance_of(begun, saved), 1e-5) << plan.fsdp;
    const auto end_of = [&](const MeshPlan& on, const Checkpoint& from) {
      return mesh_runs::run(on, recipe, 3, &from).end;
    };
    EXPECT_LT(distance_of(end, end_of(plan, begun)), 1e-5) << plan.fsdp;
    EXPECT_LT(distance_of(end, end_of({}, saved)), 1e-5) << plan.fsdp;
    EXPECT_LT(distance_of(end, end_of({.fsdp = 2}, saved)), 1e-5) << plan.fsdp;
    EXPECT_GT(distance_of(end, end_of(plan, with_broken_shards(begun))), 1e-3) << plan.fsdp;
  }
}

}  // namespace
}  // namespace howard::training
