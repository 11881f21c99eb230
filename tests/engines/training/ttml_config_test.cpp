// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/training/config/ttml_mesh.h"
#include "engines/training/config/ttml_recipe.h"
#include "engines/training/config/ttml_yaml.h"
#include "engines/training/settings.h"
#include "tests/engines/training/ttml_settings_of.h"
#include "tests/error_of.h"

namespace howard::training {
namespace {

// Another value than any default, of each kind.
std::string other(const std::string&) { return "other"; }
std::string other(std::int64_t) { return "77"; }
std::string other(float) { return "0.375"; }
std::string other(const std::vector<std::int64_t>&) { return "[2, 4]"; }
std::string other(const std::vector<std::string>&) { return "[linear, step]"; }
std::string other(const std::map<std::int64_t, std::int64_t>&) { return "{0: 6, 1: 7}"; }
std::string other(bool value) { return value ? "false" : "true"; }
template <class Value>
std::string other(const std::optional<Value>&) {
  return other(Value{});
}

/// The key with its sections around it.
std::string yaml_of(const TtmlKey& key, const std::string& value) {
  std::string text;
  std::string indent;
  std::string rest = std::string(key.section) + ".";
  while (!rest.empty()) {
    const std::size_t dot = rest.find('.');
    text += indent + rest.substr(0, dot) + ":\n";
    indent += "  ";
    rest.erase(0, dot + 1);
  }
  return text + indent + std::string(key.name) + ": " + value + "\n";
}

TEST(TtmlConfig, EachKeyIsReadAndWrittenBack) {
  int keys = 0;
  const TtmlConfig defaults;
  for_each_ttml_key(defaults, [&](const TtmlKey& key, const auto& field) {
    const TtmlSettings settings = settings_of(yaml_of(key, other(field)));
    EXPECT_NE(settings.config, defaults) << key.whole();
    EXPECT_EQ(settings_of(ttml_text(settings.config)).config, settings.config) << key.whole();
    ++keys;
  });
  EXPECT_GT(keys, 60);
  EXPECT_EQ(settings_of(ttml_text(defaults)).config, defaults);
}

TEST(TtmlConfig, TextThatNeedsQuotesIsWrittenBack) {
  TtmlConfig config;
  config.training.project_name = "a \"b\": c\\d\n#e";
  EXPECT_EQ(settings_of(ttml_text(config)).config, config);
}

TEST(TtmlConfig, LaterFilesTakeThePlaceOfWhatWasThere) {
  TtmlSettings settings = settings_of("training_config:\n  batch_size: 8\n  seed: 3\n");
  read_ttml("training_config: {batch_size: 16}\ntransformer_config: {num_blocks: 2}\n", "b.yaml",
            settings);
  EXPECT_EQ(settings.config.training.batch_size, 16);
  EXPECT_EQ(settings.config.training.seed, 3);
  EXPECT_EQ(settings.config.transformer.num_blocks, 2);
  EXPECT_EQ(settings.name_of("training_config.seed"), "file.yaml:3: training_config.seed");
  EXPECT_EQ(settings.name_of("training_config.batch_size"), "b.yaml:1: training_config.batch_size");
}

TEST(TtmlConfig, WhatIsNoneOfItsKeysIsAnErrorWithItsLine) {
  const auto fails = [](const std::string& text, const std::string& words) {
    const std::string failure = error_of([&] { settings_of(text); });
    EXPECT_TRUE(contains(failure, words)) << text << ": " << failure;
  };
  fails("training_config:\n  batch_sise: 8\n",
        "file.yaml:2: 'batch_sise' of training_config is no key");
  fails("training_config:\n  batch_sise: 8\n", "try batch_size");
  fails("trainin_config: {}\n", "try training_config");
  fails("training_config:\n  seed: 1\n  seed: 2\n", "file.yaml:3: seed is there twice");
  fails("training_config:\n  seed: many\n", "training_config.seed is 'many'; accepted: a whole");
  fails("training_config:\n  seed: 99999999999999999999\n", "a whole number");
  fails("training_config:\n  learning_rate: 1e300\n", "a number");
  fails("training_config:\n  learning_rate: [1]\n", "no single value");
  fails("training_config:\n  use_no_op: 1\n", "accepted: true, false");
  fails("device_config:\n  mesh_shape: 8\n", "a list of whole numbers");
  fails("training_config: 8\n", "training_config is no map");
  fails("- 1\n", "the file is no map");
  fails("training_config: {seed: 1\n", "it is no YAML");
  fails("training_config: &x [*x]\n", "file.yaml:1");
  EXPECT_EQ(error_of([] { settings_of(""); }), "");
}

TEST(TtmlConfig, WhatNothingReadsIsNotedWithItsLine) {
  const TtmlSettings settings = settings_of(
      "training_config:\n  seed: 3\n  wandb_entity: us\ngrpo_config:\n  epsilon: 0.2\n");
  ASSERT_EQ(settings.notes.size(), 2U);
  EXPECT_TRUE(contains(settings.notes[0], "file.yaml:3: 'wandb_entity' of training_config"));
  EXPECT_TRUE(contains(settings.notes[1], "file.yaml:4: grpo_config is for TTML's GRPOTrainer"));
  EXPECT_EQ(settings.config.training.seed, 3);
}

TEST(TtmlConfig, NumbersAndVariablesAreReadAsTtmlReadsThem) {
  ::setenv("HOWARD_TEST_ROOT", "/somewhere", 1);
  ::unsetenv("HOWARD_TEST_NONE");
  const TtmlSettings settings = settings_of(
      "training_config:\n  model_config: ${HOWARD_TEST_ROOT}/tt-train/$HOWARD_TEST_ROOT.yaml\n"
      "  data_path: ${HOWARD_TEST_NONE}/a$\n  model_save_interval: 0\n"
      "transformer_config:\n  vocab_size: 30_000\n");
  EXPECT_EQ(settings.config.training.model_config, "/somewhere/tt-train//somewhere.yaml");
  EXPECT_EQ(settings.config.training.data_path, "${HOWARD_TEST_NONE}/a$");
  EXPECT_EQ(variable_in(settings.config.training.data_path), "HOWARD_TEST_NONE");
  EXPECT_EQ(variable_in("a$ b"), "");
  EXPECT_EQ(settings.config.transformer.vocab_size, 30000);
  EXPECT_EQ(recipe_of(settings_of("training_config: {model_save_interval: 0}\n")), recipe_of({}));
}

TEST(TtmlConfig, TheMapOfAnOptimizerHasDefaultsOfItsOwn) {
  const auto recipe = [](const std::string& text) { return recipe_of(settings_of(text)); };
  EXPECT_EQ(recipe("training_config: {learning_rate: 0.5}\n").optimizer.learning_rate, 0.5F);
  EXPECT_EQ(recipe("training_config: {learning_rate: 0.5, optimizer: {type: AdamW}}\n")
                .optimizer.learning_rate,
            1e-3F);
}

TEST(TtmlConfig, DeepNestingIsAnErrorAndNoCrash) {
  EXPECT_NE(error_of([] { settings_of(std::string(100000, '[')); }), "");
  EXPECT_NE(error_of([] { settings_of(std::string(100000, '{')); }), "");
}

/// A valid value of a key, where any will not do.
std::string valid(const std::string& key, const std::string& otherwise) {
  static const std::map<std::string, std::string> kValues{
      {"training_config.scheduler_type", "warmup_linear"},
      {"training_config.tokenizer_type", "bpe"},
      {"training_config.optimizer.type", "SGD"},
      {"training_config.optimizer.nesterov", "true"},
      {"transformer_config.runner_type", "memory_efficient"},
      {"transformer_config.weight_tying", "enabled"},
      {"transformer_config.positional_embedding_type", "fixed"},
      {"transformer_config.num_heads", "12"},
      {"transformer_config.embedding_dim", "768"},
      {"transformer_config.max_sequence_length", "128"},
      {"transformer_config.num_groups", "2"},
      {"transformer_config.head_dim", "96"},
      {"transformer_config.n_routed_experts", "4"},
      {"transformer_config.n_expert_groups", "4"},
      {"transformer_config.n_activated_experts", "3"},
      {"transformer_config.n_limited_groups", "2"},
      {"transformer_config.score_func", "softmax"},
      {"transformer_config.qk_nope_head_dim", "96"},
      {"transformer_config.qk_rope_head_dim", "96"},
      {"transformer_config.v_head_dim", "96"},
      {"transformer_config.model_type", "llama"}};
  const auto found = kValues.find(key);
  return found == kValues.end() ? otherwise : found->second;
}

// What is applied by others than the recipe: the command, the mesh, the text.
const std::set<std::string> kElsewhere{
    "training_config.project_name",        "training_config.num_epochs",
    "training_config.eval_every",          "training_config.validation_batch_size",
    "training_config.tokenizer_type",      "training_config.data_path",
    "training_config.model_config",        "training_config.model_save_interval",
    "training_config.checkpoint_dir",      "transformer_config.model_path",
    "transformer_config.vocab_size",       "training_config.multihost_config",
    "training_config.lazy_parameter_init", "transformer_config.embedding_placement"};

/// Whether the section says how text is written, where the run is made, or what a script trains.
bool is_elsewhere(const std::string& name) {
  const std::set<std::string> sections{"eval_config", "grpo_config", "device_config"};
  return kElsewhere.contains(name) || sections.contains(name.substr(0, name.find('.'))) ||
         name.ends_with("logging_interval") || name.starts_with("multihost_config");
}

/// What a key needs around it to matter.
std::string around(const std::string& name) {
  std::string text;
  const std::string key = name.substr(name.rfind('.') + 1);
  if (name.starts_with("scheduler_config") && name != "scheduler_config.max_lr") {
    const std::map<std::string, std::string> types{
        {"step_size", "step"},       {"gamma", "step"},         {"start_factor", "linear"},
        {"end_factor", "linear"},    {"total_steps", "cosine"}, {"schedulers", "sequential"},
        {"milestones", "sequential"}};
    const auto type = types.find(key);
    text += type == types.end() ? "scheduler_config: {max_lr: 0.001, beta1_warmup_steps: 5}\n"
                                : "training_config: {scheduler_type: " + type->second +
                                      "}\nscheduler_config: {step_size: 3, schedulers: [cosine, "
                                      "step], milestones: [1, 2]}\n";
    if (type != types.end() && type->second != "sequential") {
      text = "training_config: {scheduler_type: " + type->second + "}\n";
      if (type->second == "step") text += "scheduler_config: {step_size: 3}\n";
    }
  }
  if (name == "training_config.clip_grad_norm_max_norm") {
    text += "training_config: {use_clip_grad_norm: true}\n";
  }
  if (name == "training_config.optimizer.nesterov") {
    text += "training_config: {optimizer: {type: SGD, momentum: 0.9}}\n";
  }
  if (name.starts_with("lora_config")) {
    text +=
        "lora_config: {rank: 3, target_modules: [w1]}\ntransformer_config: {model_type: llama}\n";
  }
  if (name.find("mlp_config") != std::string::npos)
    text += "mlp_config: {input_features: 9, hidden_features: [8], output_features: 3}\n";
  if (key == "head_dim") text += "transformer_config: {model_type: qwen3}\n";
  const std::set<std::string> of_deepseek{"inter_dim",   "moe_inter_dim",    "score_func",
                                          "route_scale", "q_lora_rank",      "kv_lora_rank",
                                          "v_head_dim",  "qk_nope_head_dim", "qk_rope_head_dim"};
  if (of_deepseek.contains(key) || key.starts_with("n_")) {
    const bool grouped = key == "n_expert_groups";  // in smaller groups a token has fewer experts
    text += "transformer_config: {model_type: deepseek, n_activated_experts: " +
            std::string(grouped ? "1" : "2") + "}\n";
  }
  const std::set<std::string> of_llama{"num_groups", "intermediate_dim", "theta"};
  if (name.find("rope_scaling") != std::string::npos || of_llama.contains(key)) {
    text +=
        "transformer_config: {model_type: llama, rope_scaling: {scaling_factor: 8, "
        "high_freq_factor: 4, original_context_length: 8192}}\n";
  }
  return text;
}

TEST(Settings, AreNamedOnceAndSetByKeysThatTtmlHas) {
  std::set<std::string> keys, names, set;
  const TtmlConfig config;
  for_each_ttml_key(config, [&](const TtmlKey& key, const auto&) { keys.insert(key.whole()); });
  const Recipe recipe;
  for_each_setting(recipe, [&](const Setting& setting, const auto&) {
    EXPECT_TRUE(names.insert(std::string(setting.name)).second) << setting.name;
    if (setting.key.empty()) return;
    EXPECT_TRUE(keys.contains(std::string(setting.key))) << setting.key;
    EXPECT_TRUE(set.insert(std::string(setting.key)).second) << setting.key;
  });
  EXPECT_GT(set.size(), 30U);
}

TEST(TtmlConfig, EachKeyIsAppliedOrRefusedByName) {
  const TtmlConfig defaults;
  for_each_ttml_key(defaults, [&](const TtmlKey& key, const auto& field) {
    const std::string name = key.whole();
    if (is_elsewhere(name)) return;
    TtmlSettings settings = settings_of(around(name));
    const Recipe before = recipe_of(settings);
    read_ttml(yaml_of(key, valid(name, other(field))), "key.yaml", settings);
    Recipe after = before;
    const std::string failure = error_of([&] { after = recipe_of(settings); });
    EXPECT_TRUE(after != before || contains(failure, "key.yaml:")) << name << ": " << failure;
  });
}

TEST(TtmlConfig, TheRecipeIsWhatTheFileSays) {
  const Recipe recipe = recipe_of(settings_of(R"(
training_config: {batch_size: 8, max_steps: 40, gradient_accumulation_steps: 4, weight_decay: 0.1,
                  use_moreh_adamw: true, use_clip_grad_norm: true, clip_grad_norm_max_norm: 2}
scheduler_config: {max_lr: 0.001, min_lr: 0.0001, warmup_steps: 5, hold_steps: 6}
transformer_config:
  model_type: llama
  num_heads: 32
  num_groups: 4
  embedding_dim: 2048
  intermediate_dim: 5632
  num_blocks: 22
  max_sequence_length: 2048
  runner_type: memory_efficient
)"));
  EXPECT_EQ(recipe.model.kind, ModelKind::llama);
  EXPECT_EQ(recipe.model.batch, 8);
  EXPECT_EQ(recipe.accumulate, 4);
  EXPECT_EQ(recipe.schedule.steps, 40);
  EXPECT_EQ(recipe.optimizer.kind, OptimizerKind::moreh_adamw);
  EXPECT_EQ(recipe.optimizer.clip, 2);
  EXPECT_EQ(recipe.schedule.schedule, autograd::Schedule::speedrun);
  EXPECT_EQ(recipe.optimizer.learning_rate, 0.001F);
  EXPECT_EQ(recipe.least_rate, 0.0001F);
  EXPECT_EQ(recipe.model.dropout, 0) << "a llama's default";
  EXPECT_EQ(recipe.model.groups, 4);
  EXPECT_EQ(recipe.model.feed_forward, 5632);
  EXPECT_TRUE(recipe.model.memory_efficient);
  EXPECT_EQ(recipe.model.parameters, DataType::bfloat16);
  EXPECT_EQ(recipe_of({}).model.dropout, 0.2F);
}

TEST(TtmlConfig, SchedulersOfTtmlsLibraryAreNamed) {
  const auto recipe = [](const std::string& type, const std::string& keys) {
    return recipe_of(settings_of("training_config: {scheduler_type: " + type +
                                 ", learning_rate: 0.5, max_steps: 100}\nscheduler_config: {" +
                                 keys + "}\n"));
  };
  EXPECT_FLOAT_EQ(learning_rate_of(recipe("step", "step_size: 10, gamma: 0.5"), 25), 0.125F);
  EXPECT_FLOAT_EQ(learning_rate_of(recipe("linear", "start_factor: 0, end_factor: 1"), 51), 0.25F);
  EXPECT_FLOAT_EQ(learning_rate_of(recipe("cosine", "min_lr: 0.1, total_steps: 20"), 11), 0.3F);
  const Recipe sequence = recipe("sequential",
                                 "schedulers: [linear, cosine], milestones: [10, 90], "
                                 "start_factor: 0, end_factor: 1");
  EXPECT_FLOAT_EQ(learning_rate_of(sequence, 6), 0.25F);
  EXPECT_FLOAT_EQ(learning_rate_of(sequence, 56), 0.25F);
  const Recipe speedrun = recipe_of(settings_of(
      "scheduler_config: {max_lr: 1, beta1_warmup_steps: 10, beta1_start: 0.5, beta1_end: 0.9}\n"));
  EXPECT_FLOAT_EQ(beta1_of(speedrun, 5), 0.7F);
  EXPECT_FLOAT_EQ(beta1_of(speedrun, 50), 0.9F);
}

TEST(TtmlConfig, OptimizersHaveTheirOwnOptions) {
  const auto recipe = [](const std::string& keys) {
    return recipe_of(settings_of("training_config: {optimizer: {" + keys + "}}\n"));
  };
  const Recipe fused =
      recipe("type: AdamW, amsgrad: true, stochastic_rounding: true, kahan_summation: true");
  EXPECT_EQ(fused.optimizer.kind, OptimizerKind::fused_adamw);
  EXPECT_TRUE(fused.optimizer.adamw.amsgrad && fused.optimizer.stochastic_rounding &&
              fused.optimizer.adamw.kahan);
  EXPECT_EQ(recipe("type: AdamWComposite, amsgrad: true").optimizer.kind, OptimizerKind::adamw);
  EXPECT_EQ(recipe("type: AdamWFullPrecision").model.parameters, DataType::float32);
  const Recipe sgd = recipe("type: SGD, momentum: 0.9, weight_decay: 0.5");
  EXPECT_EQ(sgd.optimizer.kind, OptimizerKind::fused_sgd);
  EXPECT_EQ(sgd.optimizer.sgd.momentum, 0.9F);
  EXPECT_EQ(sgd.optimizer.sgd.weight_decay, 0.5F);
  EXPECT_EQ(recipe("type: SGDComposite").optimizer.kind, OptimizerKind::sgd);
  const Recipe muon = recipe("type: MuonComposite, lr: 0.5, momentum: 0.25, ns_steps: 3");
  EXPECT_EQ(muon.optimizer.kind, OptimizerKind::muon);
  EXPECT_EQ(muon.optimizer.learning_rate, 0.5F);
  EXPECT_EQ(muon.optimizer.muon.numbers, (autograd::MuonNumbers{0.25F, 3}));
  const Recipe both = recipe(
      "type: MuonWithAdamW, adamw_modules: [fc, w1], muon: {ns_steps: 2}, "
      "adamw: {lr: 0.25, beta1: 0.5, amsgrad: true}");
  EXPECT_EQ(both.optimizer.kind, OptimizerKind::muon_adamw);
  EXPECT_EQ(both.optimizer.learning_rate, 0.02F);
  EXPECT_EQ(both.optimizer.muon,
            (MuonOptions{.numbers = {0.95F, 2}, .adamw_rate = 0.25F, .adamw_modules = "fc w1"}));
  EXPECT_EQ(both.optimizer.adamw.beta1, 0.5F);
  EXPECT_TRUE(both.optimizer.adamw.amsgrad);
  EXPECT_THROW(recipe("type: AdamW, ns_steps: 3"), Error);
  EXPECT_THROW(recipe("type: MuonComposite, muon: {lr: 1}"), Error);
}

TEST(TtmlConfig, FilesWithAnOptimizerHaveTheFormsOf2026) {
  const std::string optimizer = "training_config: {optimizer: {type: AdamW}}\n";
  const std::string llama = "transformer_config:\n  model_type: llama\n";
  const Recipe now = recipe_of(settings_of(optimizer + llama));
  EXPECT_TRUE(now.model.fused_attention && now.model.scaled_slopes && now.model.sharded_loss);
  const Recipe before = recipe_of(settings_of(llama));
  EXPECT_FALSE(before.model.fused_attention || before.model.scaled_slopes ||
               before.model.sharded_loss);
  const Recipe asked =
      recipe_of(settings_of(optimizer + llama + "  experimental: {use_fused_attention: false}\n"));
  EXPECT_FALSE(asked.model.fused_attention);
}

TEST(TtmlConfig, FormsOfTtmlsModulesAreChosenUnderExperimental) {
  const auto recipe = [](const std::string& type, const std::string& keys) {
    return recipe_of(settings_of("transformer_config: {model_type: " + type + ", experimental: {" +
                                 keys + "}}\n"));
  };
  EXPECT_TRUE(recipe("llama", "use_composite_rmsnorm: true").model.composite_rms_norm);
  EXPECT_TRUE(recipe("llama", "use_fused_swiglu: true").model.fused_swiglu);
  EXPECT_TRUE(recipe("llama", "use_fused_attention: true").model.fused_attention);
  EXPECT_TRUE(recipe("gpt2", "use_fused_attention: true").model.fused_attention);
  const Recipe plain = recipe("llama", "");
  EXPECT_FALSE(plain.model.composite_rms_norm || plain.model.fused_swiglu ||
               plain.model.fused_attention);
  EXPECT_THROW(recipe("gpt2", "use_composite_rmsnorm: true"), Error);
  EXPECT_THROW(recipe("gpt2", "use_fused_swiglu: true"), Error);
}

TEST(TtmlConfig, AllSettingsWithTheirDefaultsAreARunThatReadsBack) {
  const TtmlSettings settings =
      settings_of("training_config: {scheduler_type: step}\nscheduler_config: {step_size: 2}\n");
  EXPECT_EQ(recipe_of(settings_of(ttml_text(settings.config))), recipe_of(settings));
}

TEST(TtmlConfig, WhatTtmlWouldNotTakeIsRefused) {
  const auto fails = [](const std::string& text, const std::string& words) {
    const std::string failure = error_of([&] { recipe_of(settings_of(text)); });
    EXPECT_TRUE(contains(failure, words)) << text << ": " << failure;
  };
  fails("transformer_config:\n  embedding_dim: 100\n", "file.yaml:2: transformer_config.embedding");
  fails("transformer_config: {embedding_dim: 416, num_heads: 6}\n", "a divisor of");
  fails("transformer_config: {model_type: llama, num_groups: 4}\n", "a divisor of the 6 heads");
  fails("transformer_config: {model_type: llama, num_heads: 24}\n", "heads of 32, 64");
  fails("transformer_config: {model_type: gpt5}\n", "gpt2, llama, qwen3, deepseek");
  fails("transformer_config: {model_type: qwen3, head_dim: 48}\n", "heads of 32, 64");
  fails("transformer_config: {model_type: qwen3, dropout_prob: 0.5}\n", "0 for a qwen3");
  fails("transformer_config: {model_type: llama, head_dim: 64}\n", "it is for model_type qwen3");
  fails("transformer_config: {model_type: gpt2, theta: 1}\n",
        "no such key here: it is for model_type llama");
  fails("training_config: {use_moreh_adamw: true, use_no_op: true}\n", "more than one of");
  fails("training_config: {batch_size: 0}\n", "1 to ");
  fails("training_config: {optimizer: {type: Lion}}\n", "MorehAdamW");
  fails("training_config: {scheduler_type: warmup_linear}\nscheduler_config: {max_lr: 1}\n",
        "one of them");
  fails("training_config:\n  scheduler_type: lambda\n", "LambdaScheduler");
  fails("training_config: {scheduler_type: step}\n", "scheduler_config.step_size");
  fails("scheduler_config:\n  step_size: 4\n", "file.yaml:2: scheduler_config.step_size");
  fails("scheduler_config:\n  warmup_steps: 4\n", "no such key here: it is for a max_lr");
  fails("training_config: {scheduler_type: sequential}\n", "0 numbers for 0 schedulers");
  fails(
      "training_config: {scheduler_type: sequential}\n"
      "scheduler_config: {schedulers: [speedrun], milestones: [3]}\n",
      "scheduler_config.schedulers");
  fails("training_config: {optimizer: {type: MorehAdamW, amsgrad: true}}\n", "optimizer.amsgrad");
  fails("training_config: {optimizer: {type: AdamWComposite, stochastic_rounding: true}}\n",
        "optimizer.stochastic_rounding");
}

std::optional<MeshPlan> plan_of(const std::string& text) {
  const TtmlSettings settings = settings_of(text);
  return mesh_plan_of(settings, recipe_of(settings));
}

TEST(TtmlConfig, DevicesShareARun) {
  EXPECT_EQ(plan_of("device_config: {mesh_shape: [1, 1]}\n"), std::nullopt);
  EXPECT_EQ(plan_of("device_config: {mesh_shape: [1, 8], enable_ddp: true}\n"),
            (MeshPlan{.ddp = 8}));
  EXPECT_EQ(plan_of("transformer_config: {model_type: llama, num_heads: 4, num_groups: 2}\n"
                    "device_config: {mesh_shape: [1, 2], enable_tp: true, enable_sp: true}\n"),
            (MeshPlan{.tp = 2, .sequence_parallel = true}));
  EXPECT_EQ(plan_of("device_config: {mesh_shape: [1, 2], enable_tp: true}\n"), (MeshPlan{.tp = 2}));
  EXPECT_EQ(plan_of("device_config: {mesh_shape: [4, 2], enable_ddp: true, enable_tp: true}\n"),
            (MeshPlan{.ddp = 4, .tp = 2}));
  EXPECT_EQ(plan_of("multihost_config: {enabled: true, num_workers: 3}\n"),
            (MeshPlan{.workers = 3, .three_tiers = true}));
  EXPECT_EQ(plan_of("multihost_config: {enabled: true, num_workers: 2, socket_type: fabric}\n"
                    "device_config: {mesh_shape: [4, 2], enable_ddp: true, enable_tp: true}\n"),
            (MeshPlan{.ddp = 4, .tp = 2, .fabric = true, .workers = 2, .three_tiers = true}));
  EXPECT_EQ(
      plan_of("transformer_config: {model_type: llama}\n"
              "multihost_config:\n  enabled: true\n  num_workers: 3\n  socket_type: fabric\n"
              "  pipeline_parallel_config: {num_blocks: 6, blocks_per_rank: {0: 1, 1: 3, 2: 2}}\n"),
      (MeshPlan{.blocks = {1, 3, 2}, .fabric = true}));
}

TEST(TtmlConfig, WhatDevicesCanNotShareIsRefusedByName) {
  const auto fails = [](const std::string& text, const std::string& words) {
    const std::string failure = error_of([&] { static_cast<void>(plan_of(text)); });
    EXPECT_TRUE(contains(failure, words)) << text << ": " << failure;
  };
  fails("device_config: {mesh_shape: [1, 8]}\n", "device_config.mesh_shape: [1, 8]");
  fails("device_config: {enable_cp: true}\n", "device_config.enable_cp");
  fails("transformer_config: {model_type: deepseek, moe_type: sparse_ep}\n",
        "transformer_config.moe_type is not planned; accepted: experts that all devices have");
  fails("transformer_config: {model_type: deepseek, moe_hyperparam: {experts: 4}}\n",
        "transformer_config.moe_hyperparam is not planned");
  fails("training_config: {grpo_config: {remote_rollout_config: {workers: 2}}}\n",
        "grpo_config.remote_rollout_config is not planned; accepted: rollouts by the devices");
  fails("grpo_config: {rollout_queue_capacity: 4}\n", "grpo_config.rollout_queue_capacity");
  fails("device_config: {mesh_shape: [1, 4], enable_tp: true}\n", "6 heads on 4 devices");
  fails("device_config: {mesh_shape: [1, 3], enable_ddp: true}\n", "64 sequences on 3 groups");
  fails(
      "device_config: {mesh_shape: [1, 2], enable_tp: true}\n"
      "training_config: {use_clip_grad_norm: true}\n",
      "use_clip_grad_norm");
  fails("device_config: {mesh_shape: [1, 2], enable_ddp: true, device_ids: [0]}\n", "device_ids");
  fails("transformer_config: {embedding_placement: vocab_parallel}\n", "embedding_placement");
  fails("multihost_config: {enabled: true}\n", "multihost_config.num_workers");
  fails("mlp_config: {input_features: 784}\n", "hidden_features: it is not set");
  fails("multihost_config: {enabled: true, num_workers: 2, socket_type: tcp}\n", "'tcp'");
  fails(
      "transformer_config: {model_type: qwen3}\n"
      "device_config: {mesh_shape: [1, 2], enable_tp: true}\n",
      "transformer_config.model_type: 'qwen3'");
  fails("device_config: {mesh_shape: [1, 2], enable_ddp: true, enable_sp: true}\n",
        "device_config.enable_sp");
  fails("device_config: {mesh_shape: [1, 2], enable_tp: true, enable_sp: true}\n", "for a gpt2");
  fails(
      "multihost_config: {enabled: true, num_workers: 2}\n"
      "training_config: {scheduler_type: warmup_linear}\n",
      "a schedule has no effect");
  const auto pipeline = [](const std::string& of) {
    return "transformer_config: {model_type: llama}\nmultihost_config:\n  enabled: true\n"
           "  num_workers: 2\n  pipeline_parallel_config: " +
           of + "\n";
  };
  fails(pipeline("{num_blocks: 6, blocks_per_rank: {0: 6, 1: 0}}"), "0 blocks on rank 1");
  fails(pipeline("{num_blocks: 6, blocks_per_rank: {0: 3, 1: 2}}"), "5 blocks in all");
  fails(pipeline("{num_blocks: 6, blocks_per_rank: {0: 3, 2: 3}}"), "rank 2 where rank 1");
  fails(pipeline("{num_blocks: 8, blocks_per_rank: {0: 4, 1: 4}}"), "the model's num_blocks, 6");
  fails(pipeline("{num_blocks: 6, blocks_per_rank: {0: 2, 1: 2, 2: 2}}"), "3 ranks");
}

}  // namespace
}  // namespace howard::training
