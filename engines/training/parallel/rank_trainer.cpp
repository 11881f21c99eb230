// SPDX-License-Identifier: Apache-2.0
#include "engines/training/parallel/rank_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "engines/training/parallel/stage_trainer.h"
#include "engines/training/parallel/tier_trainer.h"
#include "engines/training/parallel/values_of_ranks.h"

namespace howard::training {

MeshStep join_steps(mesh::Communicator& ranks, const MeshStep& own, std::int64_t number) {
  const auto joined =
      join_numbers<MeshStep, MeshStep>(ranks, own, [](std::span<const MeshStep> all) {
        MeshStep step;
        for (const MeshStep& one : all) {
          step.loss += one.loss;
          step.time = std::max(step.time, one.time);
        }
        return step;
      });
  if (std::isfinite(joined.loss)) return joined;
  throw Error({.attempted = "train",
               .value = fmt::format("a loss that is not finite in step {}", number),
               .accepted = "finite losses and parameters",
               .hint = "a smaller learning rate, from the last checkpoint"});
}

std::unique_ptr<RankTrainer> make_rank_trainer(Device& device, mesh::Communicator& ranks,
                                               const MeshPlan& plan, const Recipe& recipe,
                                               const language::Corpus& corpus,
                                               RankOptions options) {
  if (plan.workers > 0) {
    return std::make_unique<TierTrainer>(device, ranks, plan, recipe, corpus, std::move(options));
  }
  require_chunks(plan, recipe.accumulate);
  return std::make_unique<StageTrainer>(device, ranks, plan, recipe, corpus, std::move(options));
}

}  // namespace howard::training
