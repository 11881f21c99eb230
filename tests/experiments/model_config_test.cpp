// SPDX-License-Identifier: Apache-2.0
#include "experiments/language_models/model_config.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace howard::experiments {
namespace {

constexpr const char* kSmall = R"({"model_type": "llama", "hidden_size": 256,
  "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 8,
  "num_key_value_heads": 2, "vocab_size": 1000, "max_position_embeddings": 512})";

/// Returns kSmall with one text for another.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

LanguageModel read(const std::string& text) { return parse_model_config(text, "small", "it.json"); }

/// Expects an error that names the file and the key.
void expect_refused(const std::string& text, const std::string& key) {
  try {
    static_cast<void>(read(text));
    ADD_FAILURE() << "it is read: " << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(key), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("it.json"), std::string::npos) << error.what();
  }
}

TEST(ModelConfig, SizesThatAreLeftOutFollowFromOthers) {
  const LanguageModel model = read(kSmall);
  EXPECT_EQ(model.head_width, 32);
  EXPECT_EQ(model.head_sizes(true).qkv_columns(), 12 * 32);
  EXPECT_FALSE(model.tied);
  EXPECT_EQ(read(changed(R"("num_key_value_heads": 2,)", "")).groups, 8);
  EXPECT_EQ(
      read(changed(R"("num_key_value_heads": 2,)", R"("num_key_value_heads": 2, "head_dim": 64,)"))
          .head_sizes(true)
          .query_columns(),
      512);
}

TEST(ModelConfig, TheKnownModelsHaveTheirPublishedNumbersOfParameters) {
  const auto billions = [](const char* name) {
    return static_cast<double>(model_named(name).parameters()) / 1e9;
  };
  EXPECT_NEAR(billions("llama-3.2-1b"), 1.24, 0.01);
  EXPECT_NEAR(billions("llama-3.2-3b"), 3.21, 0.01);
  EXPECT_NEAR(billions("llama-3.1-8b"), 8.03, 0.01);
  EXPECT_NEAR(billions("llama-3.1-70b"), 70.55, 0.05);
  EXPECT_NEAR(billions("mistral-7b"), 7.25, 0.01);
  EXPECT_NEAR(billions("qwen2.5-7b"), 7.62, 0.01);
  EXPECT_NEAR(billions("qwen2.5-32b"), 32.76, 0.05);
  EXPECT_NEAR(billions("qwen2.5-72b"), 72.7, 0.1);
  EXPECT_NEAR(billions("qwen3-8b"), 8.19, 0.01);
  EXPECT_NEAR(billions("qwen3-32b"), 32.76, 0.05);
  EXPECT_NEAR(billions("phi-3.5-mini"), 3.82, 0.01);
  EXPECT_NEAR(billions("phi-4"), 14.66, 0.01);
  for (const std::string& name : known_models()) EXPECT_GT(billions(name.c_str()), 0.4) << name;
}

TEST(ModelConfig, AVisionModelIsItsTextPart) {
  const LanguageModel model = model_named("llama-3.2-11b-vision");
  EXPECT_EQ(model.layers, 32);
  EXPECT_EQ(model.image_layers, 8);
}

TEST(ModelConfig, AbsurdMissingAndContradictorySizesAreRefusedByKey) {
  expect_refused(changed(R"("hidden_size": 256,)", ""), "hidden_size");
  expect_refused(changed(R"("hidden_size": 256)", R"("hidden_size": 0)"), "hidden_size");
  expect_refused(changed(R"("hidden_size": 256)", R"("hidden_size": 256.5)"), "hidden_size");
  expect_refused(changed(R"("hidden_size": 256)", R"("hidden_size": 99999999999)"), "hidden_size");
  expect_refused(changed(R"("hidden_size": 256)", R"("hidden_size": "256")"), "hidden_size");
  expect_refused(changed(R"("num_hidden_layers": 2)", R"("num_hidden_layers": -2)"),
                 "num_hidden_layers");
  expect_refused(changed(R"("num_attention_heads": 8)", R"("num_attention_heads": 7)"),
                 "num_attention_heads");
  expect_refused(changed(R"("num_key_value_heads": 2)", R"("num_key_value_heads": 3)"),
                 "num_key_value_heads");
  expect_refused(changed(R"("intermediate_size": 512)", R"("intermediate_size": 500)"),
                 "intermediate_size");
  expect_refused(changed(R"("vocab_size": 1000)", R"("vocab_size": 1000, "eos_token_id": 1000)"),
                 "eos_token_id");
  expect_refused(changed(R"("vocab_size": 1000)", R"("vocab_size": 1000, "num_local_experts": 8)"),
                 "num_local_experts");
  expect_refused(changed(R"("llama")", R"("falcon")"), "model_type");
  expect_refused("{", "JSON");
}

/// Returns kSmall with these entries as well.
std::string with(const std::string& entries) {
  return changed(R"("vocab_size": 1000)", R"("vocab_size": 1000, )" + entries);
}

TEST(ModelConfig, WhatChangesTheWorkIsAppliedOrRefusedByKey) {
  expect_refused(with(R"("mlp_bias": true)"), "mlp_bias");
  expect_refused(with(R"("partial_rotary_factor": 0.5)"), "partial_rotary_factor");
  expect_refused(with(R"("rotary_dim": 16)"), "rotary_dim");
  expect_refused(with(R"("qkv_bias": true)"), "qkv_bias");
  expect_refused(with(R"("attn_logit_softcapping": 50.0)"), "attn_logit_softcapping");
  expect_refused(with(R"("quantization_config": {"quant_method": "awq"})"), "quantization_config");
  expect_refused(with(R"("architectures": ["MixtralForCausalLM"])"), "architectures");
  expect_refused(with(R"("architectures": ["LlamaMoeForCausalLM"])"), "architectures");
  expect_refused(with(R"("n_routed_experts": 8)"), "n_routed_experts");
  expect_refused(with(R"("layer_types": ["full_attention", "linear_attention"])"), "layer_types");
  EXPECT_EQ(read(with(R"("sliding_window": 128)")).window, 128);
  EXPECT_EQ(read(with(R"("sliding_window": null)")).window, 512);
  EXPECT_EQ(read(with(R"("sliding_window": 128, "use_sliding_window": false)")).window, 512);
  EXPECT_EQ(read(with(R"("sliding_window": 128,
                         "layer_types": ["full_attention", "full_attention"])"))
                .window,
            512);
}

TEST(ModelConfig, KeysThatChangeNoWorkArePassedOver) {
  const LanguageModel model =
      read(with(R"("mlp_bias": false, "partial_rotary_factor": 1.0, "quantization_config": null,
              "architectures": ["LlamaForCausalLM"], "torch_dtype": "bfloat16",
              "rope_scaling": {"factor": 8.0}, "anything": [1, 2])"));
  EXPECT_EQ(model.parameters(), read(kSmall).parameters());
  EXPECT_EQ(model.window, model.context);
}

TEST(ModelConfig, AWordThatIsNoModelHasASuggestion) {
  try {
    static_cast<void>(model_named("llama-3.1-8"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.text().hint, "-a model=llama-3.1-8b");
  }
}

}  // namespace
}  // namespace howard::experiments
