// SPDX-License-Identifier: Apache-2.0
#include "engines/language/weights/hugging_face_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace howard::language {
namespace {

using nlohmann::json;

json llama_1b() {
  return {{"model_type", "llama"},
          {"hidden_size", 2048},
          {"num_attention_heads", 32},
          {"num_key_value_heads", 8},
          {"num_hidden_layers", 16},
          {"intermediate_size", 8192},
          {"max_position_embeddings", 131072},
          {"vocab_size", 128256},
          {"tie_word_embeddings", true},
          {"rope_theta", 500000.0},
          {"rms_norm_eps", 1e-5},
          {"hidden_act", "silu"},
          {"eos_token_id", {128001, 128009}},
          {"rope_scaling",
           {{"rope_type", "llama3"},
            {"factor", 32.0},
            {"high_freq_factor", 4.0},
            {"low_freq_factor", 1.0},
            {"original_max_position_embeddings", 8192}}}};
}

HuggingFaceModel config_of(const json& file) {
  return parse_hugging_face_config(file.dump(), "config.json");
}

TEST(HuggingFaceConfig, DescribesALlama) {
  const HuggingFaceModel model = config_of(llama_1b());
  EXPECT_EQ(model.options.kind, models::ModelKind::llama);
  EXPECT_EQ(model.options.groups, 8);
  EXPECT_EQ(model.options.feed_forward, 8192);
  EXPECT_EQ(model.options.theta, 5e5F);
  EXPECT_EQ(model.options.scaling.factor, 32);
  EXPECT_EQ(model.options.scaling.length, 8192);
  EXPECT_TRUE(model.options.tied);
  EXPECT_EQ(model.vocabulary, 128256);
  EXPECT_EQ(model.ends, (std::vector<std::uint32_t>{128001, 128009}));
}

TEST(HuggingFaceConfig, DescribesAQwen3) {
  json file = llama_1b();
  file.erase("rope_scaling");
  file.update({{"model_type", "qwen3"}, {"head_dim", 128}, {"rms_norm_eps", 1e-6}});
  const HuggingFaceModel model = config_of(file);
  EXPECT_EQ(model.options.kind, models::ModelKind::qwen3);
  EXPECT_EQ(model.options.head_columns(), 128);
  EXPECT_EQ(model.options.groups, 8);
  file["rms_norm_eps"] = 1e-5;
  EXPECT_THROW(static_cast<void>(config_of(file)), Error);
}

TEST(HuggingFaceConfig, DescribesAGpt2) {
  const HuggingFaceModel model = config_of({{"model_type", "gpt2"},
                                            {"n_embd", 768},
                                            {"n_head", 12},
                                            {"n_layer", 12},
                                            {"n_positions", 1024},
                                            {"vocab_size", 50257},
                                            {"eos_token_id", 50256}});
  EXPECT_EQ(model.options.kind, models::ModelKind::nano_gpt);
  EXPECT_EQ(model.options.sequence, 1024);
  EXPECT_TRUE(model.options.tied);
  EXPECT_EQ(model.ends, std::vector<std::uint32_t>{50256});
}

TEST(HuggingFaceConfig, RefusesByName) {
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, json>>{{"model_type", "mistral"},
                                                 {"hidden_size", -5},
                                                 {"hidden_size", "x"},
                                                 {"num_hidden_layers", nullptr},
                                                 {"num_key_value_heads", 1e30},
                                                 {"attention_bias", true},
                                                 {"rms_norm_eps", 1e-6},
                                                 {"hidden_act", "gelu"},
                                                 {"head_dim", 128},
                                                 {"rope_scaling", {{"rope_type", "yarn"}}},
                                                 {"eos_token_id", {1, "x"}}}) {
    json file = llama_1b();
    file[key] = value;
    try {
      static_cast<void>(config_of(file));
      ADD_FAILURE() << key << " " << value;
    } catch (const Error& failure) {
      const std::string message = failure.what();
      EXPECT_NE(message.find(key), std::string::npos) << message;
      EXPECT_NE(message.find("config.json"), std::string::npos) << message;
    }
  }
  EXPECT_THROW(static_cast<void>(parse_hugging_face_config("{", "c")), Error);
  EXPECT_THROW(static_cast<void>(parse_hugging_face_config("[]", "c")), Error);
}

}  // namespace
}  // namespace howard::language
