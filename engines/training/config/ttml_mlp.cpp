// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "engines/training/config/ttml_checker.h"
#include "engines/training/config/ttml_recipe.h"

namespace howard::training {
namespace {

/// Throws Error for what TTML's mnist_mlp does not read, and without what it needs.
void require_mlp_keys(const TtmlChecker& check) {
  const TtmlMlp& mlp = check.training().mlp;
  const std::string map = "training_config.mlp_config.";
  const auto require = [&](bool set, const char* key, const char* accepted, const char* example) {
    check.require(set, map + key, "it is not set", accepted,
                  std::string("--with ") + key + "=" + example);
  };
  require(mlp.input_features.has_value(), "input_features", "a whole number", "784");
  require(mlp.hidden_features && !mlp.hidden_features->empty(), "hidden_features",
          "a list of whole numbers", "[128]");
  require(mlp.output_features.has_value(), "output_features", "a whole number", "10");
  constexpr std::string_view kRead[] = {"mlp_config.",    "optimizer.",
                                        "project_name",   "batch_size",
                                        "num_epochs",     "max_steps",
                                        "learning_rate",  "weight_decay",
                                        "seed",           "data_path",
                                        "model_config",   "model_save_interval",
                                        "checkpoint_dir", "gradient_accumulation_steps"};
  const ChangedKeys changed(check.settings.config);
  for (const auto& [key, place] : check.settings.places) {
    const bool of_training = key.starts_with("training_config.");
    const std::string_view name = std::string_view(key).substr(key.find('.') + 1);
    const bool read = of_training && std::ranges::any_of(kRead, [&](std::string_view one) {
                        return one.ends_with('.') ? name.starts_with(one) : name == one;
                      });
    check.require(read || !changed.has(key), key, changed.value(key),
                  "no such key beside an mlp_config, whose program does not read it");
  }
}

/// TTML's SGD of mnist_mlp, whose rate is that of batches of 128; a map `optimizer` with a type or
/// a rate takes its place.
void apply_mlp_optimizer(const TtmlChecker& check, Recipe& recipe) {
  const TtmlOptimizer& optimizer = check.training().optimizer;
  if (optimizer.type || optimizer.lr) return apply_optimizer_map(check, recipe);
  constexpr float kMomentum = 0.9F;
  recipe.optimizer.kind = OptimizerKind::sgd;
  recipe.optimizer.learning_rate =
      check.training().learning_rate * static_cast<float>(recipe.model.batch) / kMlpBatch;
  recipe.optimizer.sgd = {.momentum = optimizer.momentum.value_or(kMomentum),
                          .dampening = optimizer.dampening.value_or(0.0F),
                          .weight_decay = check.training().weight_decay,
                          .nesterov = optimizer.nesterov.value_or(false)};
}

}  // namespace

Recipe mlp_recipe(const TtmlChecker& check) {
  require_accepted(check);
  require_mlp_keys(check);
  const TtmlTraining& training = check.training();
  Recipe recipe;
  apply_keys(check, recipe);
  recipe.model = {.kind = ModelKind::mlp,
                  .batch = training.batch_size,
                  .sequence = 1,
                  .width = *training.mlp.input_features,
                  .heads = 1,
                  .layers = static_cast<int>(training.mlp.hidden_features->size()) + 1,
                  .hidden = *training.mlp.hidden_features,
                  .vocabulary = *training.mlp.output_features};
  recipe.model.scaled_slopes = training.optimizer.type.has_value();
  apply_mlp_optimizer(check, recipe);
  require_rules(check, recipe);
  require_valid(recipe);
  return recipe;
}

}  // namespace howard::training
