// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "engines/training/config/ttml_mesh.h"
#include "engines/training/config/ttml_recipe.h"
#include "tests/engines/training/ttml_settings_of.h"
#include "tests/error_of.h"

namespace howard::training {
namespace {

TEST(TtmlModels, AQwen3HasHeadsOfTheirOwnWidth) {
  const Recipe recipe = recipe_of(settings_of(
      "transformer_config: {model_type: qwen3, num_heads: 16, num_groups: 8, embedding_dim: 1024, "
      "head_dim: 128, intermediate_dim: 3072}\n"));
  EXPECT_EQ(recipe.model.kind, ModelKind::qwen3);
  EXPECT_EQ(recipe.model.head_columns(), 128);
  EXPECT_EQ(recipe.model.theta, 1e6F);
  EXPECT_EQ(recipe.model.dropout, 0);
  EXPECT_EQ(
      recipe_of(settings_of("transformer_config: {model_type: qwen3, theta: 500}\n")).model.theta,
      500);
}

TEST(TtmlModels, ADeepSeekHasItsOwnKeys) {
  const Recipe recipe = recipe_of(settings_of(
      "training_config: {optimizer: {type: AdamW}}\n"
      "transformer_config: {model_type: deepseek, num_heads: 12, embedding_dim: 1536, inter_dim: "
      "4096, moe_inter_dim: 768, num_blocks: 16, max_sequence_length: 2048, n_routed_experts: 32, "
      "n_activated_experts: 4, n_expert_groups: 4, n_limited_groups: 2, q_lora_rank: 512, "
      "kv_lora_rank: 256, qk_nope_head_dim: 96, v_head_dim: 128, runner_type: "
      "memory_efficient}\n"));
  const models::ModelOptions& model = recipe.model;
  EXPECT_EQ(model.kind, ModelKind::deepseek);
  EXPECT_EQ(model.feed_forward, 4096);
  EXPECT_EQ(model.theta, 10000);
  EXPECT_EQ(model.dropout, 0);
  EXPECT_TRUE(model.fused_attention && model.joined_swiglu && model.memory_efficient);
  EXPECT_EQ(model.deepseek, (models::DeepSeekOptions{.experts = 32,
                                                     .chosen = 4,
                                                     .groups = 4,
                                                     .limited = 2,
                                                     .expert_width = 768,
                                                     .query_rank = 512,
                                                     .latent_rank = 256,
                                                     .plain_width = 96,
                                                     .value_width = 128}));
  const std::string defaults = "transformer_config: {model_type: deepseek}\n";
  EXPECT_EQ(recipe_of(settings_of(defaults)).model.deepseek, models::DeepSeekOptions{});
  EXPECT_EQ(recipe_of(settings_of("transformer_config: {model_type: deepseek, q_lora_rank: 0}\n"))
                .model.deepseek.query_rank,
            0);
}

TEST(TtmlModels, WhatADeepSeekCannotBeIsRefusedByItsKey) {
  const auto fails = [](const std::string& keys, const std::string& words) {
    const std::string text = "transformer_config: {model_type: deepseek, " + keys + "}\n";
    const std::string failure = error_of([&] { recipe_of(settings_of(text)); });
    EXPECT_TRUE(contains(failure, words)) << keys << ": " << failure;
  };
  fails("n_routed_experts: 257", "transformer_config.n_routed_experts");
  fails("n_routed_experts: 257", "1 to 256");
  fails("n_expert_groups: 3", "a divisor of the experts");
  fails("n_limited_groups: 3", "1 up to the number of groups");
  fails("n_limited_groups: 0", "transformer_config.n_limited_groups");
  fails("n_activated_experts: 5", "1 up to the experts of the groups");
  fails("score_func: tanh", "sigmoid, softmax");
  fails("qk_rope_head_dim: 48", "a multiple of 32");
  fails("intermediate_dim: 64", "it is for model_type llama or qwen3; try inter_dim");
  fails("num_groups: 2", "it is for model_type llama or qwen3");
  fails("dropout_prob: 0.5", "0 for a qwen3 or a deepseek");
  fails("weight_tying: enabled", "disabled: the head of a deepseek");
  fails("model_path: a.safetensors", "transformer_config.model_path");
  EXPECT_TRUE(
      contains(error_of([] { recipe_of(settings_of("transformer_config: {inter_dim: 64}\n")); }),
               "it is for model_type deepseek"));
}

TEST(TtmlModels, TheModelMayBeNamedAmongTheTrainingsKeysToo) {
  const std::string named = "training_config: {model_type: llama}\n";
  const std::string failure = error_of([&] { recipe_of(settings_of(named)); });
  EXPECT_TRUE(contains(failure, "training_config.model_type") && contains(failure, "gpt2"))
      << failure;
  const Recipe recipe = recipe_of(settings_of(named + "transformer_config: {model_type: llama}\n"));
  EXPECT_EQ(recipe.model.kind, ModelKind::llama);
  const Recipe other = recipe_of(settings_of(named + "transformer_config: {model_type: gpt2}\n"));
  EXPECT_EQ(other.model.kind, ModelKind::nano_gpt) << "the model file counts";
}

TEST(TtmlModels, ATableThatNoDevicesDivideIsNoted) {
  const auto notes = [](const std::string& text) {
    const TtmlSettings settings = settings_of("transformer_config:\n  model_type: llama\n" + text);
    const Recipe recipe = recipe_of(settings);
    return idle_keys(settings, recipe, mesh_plan_of(settings, recipe, {}));
  };
  const std::string divided = "  num_groups: 6\n  embedding_placement: feature_parallel\n";
  ASSERT_EQ(notes(divided).size(), 1U);
  EXPECT_TRUE(contains(notes(divided)[0], "file.yaml:4: transformer_config.embedding_placement: "));
  EXPECT_EQ(notes(divided + "device_config: {mesh_shape: [1, 2], enable_ddp: true}\n").size(), 1U);
  EXPECT_TRUE(notes(divided + "device_config: {mesh_shape: [1, 2], enable_tp: true}\n").empty());
  EXPECT_TRUE(notes("  num_groups: 6\n").empty());
}

TEST(TtmlModels, ADeepSeekRunsOnOneDevice) {
  const auto fails = [](const std::string& devices, const std::string& words) {
    const TtmlSettings settings =
        settings_of("transformer_config: {model_type: deepseek}\n" + devices);
    const Recipe recipe = recipe_of(settings);
    const std::string failure = error_of([&] { mesh_plan_of(settings, recipe, {}); });
    EXPECT_TRUE(contains(failure, words)) << devices << ": " << failure;
  };
  for (const std::string way : {"enable_ddp", "enable_tp", "enable_fsdp"}) {
    fails("device_config: {mesh_shape: [1, 2], " + way + ": true}\n",
          "'deepseek' on 2 devices; accepted: one device");
  }
  fails("multihost_config: {enabled: true, num_workers: 2}\n", "'deepseek' on");
  EXPECT_FALSE(mesh_plan_of(settings_of("transformer_config: {model_type: deepseek}\n"),
                            recipe_of(settings_of("transformer_config: {model_type: deepseek}\n")),
                            {}));
}

}  // namespace
}  // namespace howard::training
