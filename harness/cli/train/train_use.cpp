// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_use.h"

#include <initializer_list>
#include <string_view>

#include "harness/cli/given_options.h"
#include "harness/cli/train/train.h"

namespace howard::cli {
namespace {

using autograd::Schedule;
using training::OptimizerKind;

/// Says whether a run has one of these schedules; a sequence may have any.
bool follows(const training::Recipe& recipe, std::initializer_list<Schedule> schedules) {
  for (const Schedule schedule : schedules) {
    if (recipe.schedule == schedule) return true;
  }
  return recipe.schedule == Schedule::sequential;
}

}  // namespace

void require_used_options(const TrainOptions& options) {
  const training::Recipe& recipe = options.recipe;
  const auto require = [&](bool used, std::string_view purpose,
                           std::initializer_list<std::string_view> names) {
    require_use(options.given, names, used, purpose);
  };
  require(options.generate > 0, "--generate N",
          {"prompt", "temperature", "top-k", "top-p", "repetition-penalty"});
  if (options.verb == kTrainVerb) {
    require(!options.checkpoint.empty(), "--checkpoint FILE", {"every"});
    return;  // its files say the rest, and are read as a whole
  }
  require(recipe.optimizer == OptimizerKind::sgd, "--optimizer sgd",
          {"sgd-decay", "momentum", "dampening", "nesterov"});
  const bool adamw =
      recipe.optimizer != OptimizerKind::sgd && recipe.optimizer != OptimizerKind::no_op;
  require(
      adamw, "--optimizer adamw",
      {"weight-decay", "beta1", "beta2", "epsilon", "beta1-warmup", "beta1-start", "beta1-end"});
  require(recipe.beta1_warmup > 0, "--beta1-warmup N", {"beta1-start", "beta1-end"});
  require(recipe.beta1_warmup == 0, "a run without --beta1-warmup", {"beta1"});
  const bool llama = recipe.model == training::ModelKind::llama;
  require(
      llama, "--model-type llama",
      {"groups", "feed-forward", "theta", "rope-factor", "rope-high", "rope-low", "rope-length"});
  require(recipe.rope_factor > 0, "--rope-factor F", {"rope-high", "rope-low", "rope-length"});
  require(!llama, "--model-type nano_gpt", {"fixed-positions", "composite-layernorm"});
  require(follows(recipe, {Schedule::speedrun}), "--schedule speedrun", {"warmup", "hold"});
  require(follows(recipe, {Schedule::speedrun, Schedule::cosine}), "--schedule speedrun or cosine",
          {"least-rate"});
  require(follows(recipe, {Schedule::step}), "--schedule step", {"step-size", "gamma"});
  require(follows(recipe, {Schedule::linear}), "--schedule linear", {"start-factor", "end-factor"});
  require(follows(recipe, {Schedule::linear, Schedule::cosine}), "--schedule linear or cosine",
          {"schedule-steps"});
}

}  // namespace howard::cli
