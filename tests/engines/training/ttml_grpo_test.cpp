// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "engines/training/config/ttml_recipe.h"
#include "engines/training/config/ttml_yaml.h"
#include "tests/error_of.h"

namespace howard::training {
namespace {

TtmlSettings grpo_settings(const std::string& text) {
  TtmlSettings settings;
  read_ttml(text, "file.yaml", settings);
  return settings;
}

bool grpo_says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kGrpo =
    "grpo_config: {epsilon: 0.2, per_device_train_batch_size: 4, num_iterations: 2, "
    "gradient_accumulation_steps: 3, logging_steps: 1, checkpointing: false, checkpoint_interval: "
    "9, prompts_to_train: 30, temperature: 1, max_completion_length: 64, num_generations: 4, "
    "warmup_steps: 0}\ntraining_config: {batch_size: 64, max_steps: 7}\n"
    "transformer_config: {max_sequence_length: 128}\n";

TEST(TtmlGrpo, AnUpdateOfGrpoHasTheSizesOfItsTrainer) {
  TtmlSettings settings = grpo_settings(kGrpo);
  const Recipe recipe = recipe_of(settings);
  EXPECT_EQ(recipe.model.batch, 4);
  EXPECT_EQ(recipe.accumulate, 3);
  EXPECT_EQ(recipe.schedule.steps, 30 / 3 * 2);
  std::string within = kGrpo;  // TTML's own files have it within training_config.
  within.replace(within.find("}\ntraining_config: {"), 20, "}, ");
  settings = grpo_settings("training_config: {" + within);
  EXPECT_EQ(recipe_of(settings).accumulate, 3);
  settings = grpo_settings(kGrpo);
  read_ttml("training_config: {batch_size: 2}\n", "--with batch_size=2", settings);
  EXPECT_EQ(recipe_of(settings).model.batch, 2) << "an option's value goes over it";
  const std::string more = "device_config: {mesh_shape: [1, 2], enable_ddp: true}\n";
  settings = grpo_settings(kGrpo + more);
  read_ttml("grpo_config: {num_generations: 8}\n", "more.yaml", settings);
  EXPECT_EQ(recipe_of(settings).model.batch, 8);
  read_ttml("device_config: {mesh_shape: [2, 4], enable_tp: true}\n", "tp.yaml", settings);
  EXPECT_EQ(recipe_of(settings).model.batch, 8) << "the devices of the first axis divide it";
  const auto fails = [](const std::string& change, const std::string& words) {
    TtmlSettings changed = grpo_settings(kGrpo);
    const std::string failure = error_of([&] {
      read_ttml("grpo_config: {" + change + "}\n", "change.yaml", changed);
      recipe_of(changed);
    });
    EXPECT_TRUE(grpo_says(failure, words)) << change << ": " << failure;
  };
  fails("num_generations: 3", "change.yaml:1: grpo_config.num_generations: 3; accepted: a divisor");
  fails("prompts_to_train: 31", "a multiple of the 3 prompts of a step");
  fails("max_completion_length: 128", "less than max_sequence_length, 128");
  fails("num_iterations: 0", "grpo_config.num_iterations: 0; accepted: ");
  fails("micro_batch_size: 5", "what per_device_train_batch_size is");
  fails("epsilon: 0", "above 0");
  fails("temperature: -1", "above 0");
  fails("temperature: 0", "above 0");
  fails("num_generation: 8", "try num_generations");
  EXPECT_TRUE(grpo_says(error_of([] { recipe_of(grpo_settings("grpo_config: {epsilon: 0.2}\n")); }),
                        "it is not set; accepted: a value: TTML has no default"));
}

}  // namespace
}  // namespace howard::training
