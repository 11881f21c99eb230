// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "experiments/language_models/memory_account.h"
#include "experiments/language_models/model_calls.h"
#include "tests/error_of.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using Axes = std::vector<harness::AxisOverride>;

harness::PointResult served_point(const std::string& model, const std::string& machine,
                                  const Axes& more = {}) {
  Axes axes{{"model", {model}}, {"machine", {machine}}, {"mode", {"performance"}}};
  axes.insert(axes.end(), more.begin(), more.end());
  return run_emulated(*make_experiment("inference", built_in_box()), axes).at(0);
}

double served_rate(const std::string& model, const std::string& machine, const Axes& more = {}) {
  const harness::PointResult point = served_point(model, machine, more);
  EXPECT_FALSE(point.skipped) << point.id() << ": " << *point.skipped;
  return point.skipped ? 0 : point.find_metric("tokens_per_second_per_user")->value;
}

/// Returns the model served by all chips of a machine, as it is without -a dp and -a tp.
Serving serving_of(const char* model, const char* machine, std::int64_t users) {
  Serving serving{.model = model_named(model),
                  .machine = kMachine.parse(machine),
                  .batch = users,
                  .context = 128,
                  .prompt = 128,
                  .room = 1024};
  serving.tensor_parallel = serving.machine.group;
  serving.data_parallel = serving.machine.chips / serving.machine.group;
  return serving;
}

constexpr ChipSizes kSmallChip{.cores = {8, 8}, .banks = 12, .l1 = Bytes(1'300'000)};

/// Returns the matrices that the products of this name read in a step, over all kinds of layers.
std::int64_t matrices(const Work& work, std::string_view part) {
  std::int64_t count = 0;
  for (const WorkGroup& group : work) {
    for (const WorkCall& call : group.calls) {
      if (call.part != part) continue;
      const auto* const sparse = std::get_if<SparseMatmulAttributes>(&call.program.attributes);
      count += sparse != nullptr ? sparse->multiplied(call.program.outputs[0].spec.shape)
                                 : call.program.inputs[1].spec.shape.heads();
    }
  }
  return count;
}

double billions(const char* name) {
  return static_cast<double>(model_named(name).parameters()) / 1e9;
}

TEST(Mixtures, TheirNumbersOfParametersAreThePublishedOnes) {
  EXPECT_NEAR(billions("gpt-oss-20b"), 20.9, 0.2);
  EXPECT_NEAR(billions("gpt-oss-120b"), 116.8, 0.5);
  EXPECT_NEAR(billions("mixtral-8x7b"), 46.7, 0.1);
  EXPECT_NEAR(billions("qwen3-30b-a3b"), 30.5, 0.1);
  EXPECT_NEAR(billions("qwen3-235b-a22b"), 235.1, 0.2);
  EXPECT_NEAR(billions("deepseek-r1-0528"), 671.0, 1);
  EXPECT_NEAR(billions("gemma-4-26b-a4b"), 25.5, 1);
  EXPECT_NEAR(billions("gemma-4-31b"), 31, 0.5);
  EXPECT_NEAR(billions("afm-4.5b"), 4.6, 0.1) << "two matrices in a feed-forward part";
}

TEST(Mixtures, AStepReadsTheExpertsThatItsUsersChoose) {
  const auto read = [](std::int64_t users) {
    return matrices(decode_calls(serving_of("gpt-oss-20b", "p150", users), kSmallChip), "w1");
  };
  constexpr int kKinds = 3;  // of layers
  EXPECT_EQ(read(1), kKinds * 4);
  EXPECT_EQ(read(2), kKinds * 8) << "7.5 of 32 on average";
  EXPECT_EQ(read(32), kKinds * 32);
  const Work prompt = prefill_calls(serving_of("gpt-oss-20b", "p150", 1), kSmallChip, 128);
  EXPECT_EQ(matrices(prompt, "w1"), kKinds * 4 * 32) << "four tiles of tokens choose all";
  EXPECT_GT(served_rate("gpt-oss-20b", "p300x2"), served_rate("gpt-oss-20b", "p150"));
  EXPECT_GT(served_rate("gpt-oss-20b", "p150"),
            served_rate("gpt-oss-20b", "p150", {{"batch", {"8"}}}));
  EXPECT_NE(served_point("gpt-oss-20b", "n150").skipped.value_or("").find("does not fit"),
            std::string::npos);
}

TEST(Mixtures, TheGroupsOfAGalaxyShareExperts) {
  const Serving galaxy = serving_of("gpt-oss-120b", "galaxy", 32);
  EXPECT_EQ(galaxy.expert_sharers(), 4);
  EXPECT_EQ(galaxy.my_experts(), 32) << "of 128";
  const Serving box = serving_of("gpt-oss-120b", "t3k", 1);
  EXPECT_EQ(box.my_experts(), 128);
  const Bytes capacity(12'000'000'000);
  EXPECT_LT(2 * memory_account(galaxy, capacity).weights.value(),
            memory_account(box, capacity).weights.value());
  const harness::PointResult all = served_point("gpt-oss-120b", "galaxy", {{"batch", {"32"}}});
  ASSERT_FALSE(all.skipped) << *all.skipped;
  EXPECT_NEAR(all.find_metric("tokens_per_second")->value,
              128 * all.find_metric("tokens_per_second_per_user")->value, 1e-6);
}

TEST(Mixtures, AChipOfMixtralHasWholeExperts) {
  const Serving serving = serving_of("mixtral-8x7b", "t3k", 32);
  EXPECT_EQ(serving.my_experts(), 1);
  EXPECT_EQ(serving.expert_columns(), 14336);
  const double one = served_rate("mixtral-8x7b", "t3k"),
               all = served_rate("mixtral-8x7b", "t3k", {{"batch", {"32"}}});
  EXPECT_LT(all, one);
  EXPECT_GT(all, 0.6 * one)
      << "a chip multiplies 32 rows by its expert, however many users chose it";
  Serving six = serving;
  six.model.experts = 6;
  EXPECT_NE(undivided(six).value_or("").find("8 chips do not divide the model's 6 experts"),
            std::string::npos);
}

TEST(Mixtures, DeepSeeksLatentRowsAreItsCache) {
  const Serving serving = serving_of("deepseek-r1-0528", "quad_galaxy", 32);
  EXPECT_EQ(serving.my_experts(), 16) << "of 256, on 16 groups of eight chips";
  // 61 layers have 18 tiles of 32 tokens; the eight chips of a group divide the users.
  const MemoryAccount account = memory_account(serving, Bytes(12'000'000'000));
  EXPECT_EQ(account.block.value(), 8 * 18 * 1088);
  EXPECT_TRUE(account.fits());
  const std::string galaxy = served_point("deepseek-r1-0528", "galaxy").skipped.value_or("");
  EXPECT_NE(galaxy.find("does not fit a chip of galaxy"), std::string::npos) << galaxy;
  EXPECT_NE(galaxy.find("-a machine=dual_galaxy"), std::string::npos) << galaxy;
  const std::string full =
      served_point("deepseek-r1-0528", "dual_galaxy", {{"batch", {"32"}}, {"context", {"32000"}}})
          .skipped.value_or("");
  EXPECT_NE(full.find("-a batch="), std::string::npos) << full;
  EXPECT_EQ(full.find("-a dp=1"), std::string::npos) << "64 chips do not divide 224 tiles";
  EXPECT_GT(served_rate("deepseek-r1-0528", "quad_galaxy", {{"batch", {"32"}}}), 1);
}

TEST(Mixtures, Gemma4HasHeadsOfTwoWidths) {
  const LanguageModel model = model_named("gemma-4-31b");
  EXPECT_EQ(model.local_layers, 50);
  EXPECT_EQ(model.head_sizes(false).qkv_columns(), (32 + 2 * 16) * 256);
  EXPECT_EQ(model.head_sizes(true).qkv_columns(), (32 + 4) * 512) << "values are keys";
  EXPECT_TRUE(model.caps_logits);
  EXPECT_GT(served_rate("gemma-4-31b", "p300x2"), served_rate("gemma-4-31b", "t3k"));
  EXPECT_LT(served_rate("gemma-4-31b", "t3k", {{"context", {"4096"}}}),
            served_rate("gemma-4-31b", "t3k"))
      << "its prompt of heads of 512 columns has room in L1";
  EXPECT_GT(served_rate("gemma-4-26b-a4b", "p300x2"), served_rate("gemma-4-26b-a4b", "t3k"))
      << "a sparse product looks at 128 experts, faster on Blackhole";
}

TEST(Mixtures, WordsOfAnotherFamilyAreRefused) {
  const auto error = [](const std::string& json) {
    return error_of([&] { static_cast<void>(parse_model_config(json, "m", "m.json")); });
  };
  const std::string sizes = R"("hidden_size": 256, "intermediate_size": 512,
    "num_hidden_layers": 2, "num_attention_heads": 8, "vocab_size": 1000,
    "max_position_embeddings": 512)";
  const std::string used = R"(, "num_experts_per_tok": 2)";
  EXPECT_NE(error(R"({"model_type": "mixtral", )" + sizes + "}").find("num_local_experts"),
            std::string::npos);
  EXPECT_NE(error(R"({"model_type": "mixtral", "num_local_experts": 8, "num_experts": 8, )" +
                  sizes + used + "}")
                .find("the word of mixtral models, num_local_experts"),
            std::string::npos);
  EXPECT_NE(error(R"({"model_type": "qwen3", "num_experts": 8, )" + sizes + used + "}")
                .find("a qwen3 model without experts"),
            std::string::npos);
  EXPECT_NE(
      error(R"({"model_type": "mixtral", "num_local_experts": 2, "num_experts_per_tok": 3, )" +
            sizes + "}")
          .find("num_experts_per_tok"),
      std::string::npos);
  EXPECT_NE(
      error(R"({"model_type": "llama", "kv_lora_rank": 512, )" + sizes + "}").find("kv_lora_rank"),
      std::string::npos);
  EXPECT_NE(error(R"({"model_type": "deepseek_v3", )" + sizes + "}").find("q_lora_rank"),
            std::string::npos);
  EXPECT_NE(error(R"({"model_type": "arcee", "hidden_act": "silu", )" + sizes + "}").find("relu2"),
            std::string::npos);
  EXPECT_NE(error(R"({"model_type": "whisper", )" + sizes + "}").find("vision"), std::string::npos);
}

TEST(Mixtures, AttentionThatIsSensitiveIsKnownByTheModelsName) {
  const auto cache = [](const char* name) {
    return layer_formats(model_named(name), PrecisionMode::accuracy, false).cache;
  };
  for (const char* const robust : {"llama-3.1-8b", "mistral-7b", "phi-3-mini"}) {
    EXPECT_EQ(cache(robust), DataType::bfloat8_b) << robust;
  }
  for (const char* const sensitive :
       {"qwen2.5-7b", "phi-3.5-mini", "falcon3-7b", "deepseek-r1-distill-llama-8b"}) {
    EXPECT_EQ(cache(sensitive), DataType::bfloat16) << sensitive;
  }
}

TEST(Mixtures, BothModesOfQwen7bMultiplyWithAllPasses) {
  for (const PrecisionMode mode : {PrecisionMode::performance, PrecisionMode::accuracy}) {
    const LayerFormats formats = layer_formats(model_named("qwen2.5-7b"), mode, false);
    for (const WeightFormat& each : {formats.gate_up, formats.down, formats.qkv, formats.output}) {
      EXPECT_EQ(each.compute.fidelity, MathFidelity::hifi4);
      EXPECT_NE(each.dtype, DataType::bfloat4_b);
    }
    EXPECT_EQ(formats.attention.fidelity, MathFidelity::hifi4);
    EXPECT_EQ(formats.gated, DataType::bfloat16);
  }
}

}  // namespace
}  // namespace howard::experiments
