// SPDX-License-Identifier: Apache-2.0
//
// train and fit over files of TTML as a contract: what they print and write, and what they refuse.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/cli/ttml_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;

TEST_F(Ttml, ARunPrintsTheLinesOfTtml) {
  const Outcome outcome = train("--results out");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("Number of parameters: ")) << outcome.out;
  for (const char* const part :
       {"\nStep: 1, Loss: ", "\nFull step time ", " ms, cache entries: ", "\nStep: 4, Loss: ",
        "=== Memory Usage Summary ===\n\n--- MODEL_CREATION ---\n  DRAM: Segment Peak ",
        "--- OPTIMIZER_CREATION ---", "--- FORWARD_PASS ---", "--- BACKWARD_PASS ---",
        "--- FIRST_ITERATION_COMPLETE ---", "=== Final Totals ===\nOverall DRAM Peak: "}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
  EXPECT_FALSE(contains(outcome.out, "Step: 5"));
  const json metrics = json::parse(content(folder() / "out/metrics.json"));
  EXPECT_EQ(metrics["model_name"], "roses");
  for (const char* const key :
       {"model_dram_mb", "optimizer_dram_mb", "activations_dram_mb", "gradients_dram_mb",
        "unaccounted_dram_mb", "total_dram_mb", "last_loss", "average_iteration_time_ms",
        "step_time_1st", "step_time_2nd", "step_time_p50", "step_time_p95", "step_time_p99",
        "test_ts", "git_commit_hash", "arch_name", "binary_name", "model_filename"}) {
    EXPECT_TRUE(metrics.contains(key)) << key;
  }
  std::istringstream lines(content(folder() / "out/steps.jsonl"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(json::parse(line)["config"]["batch_size"], 2);
  for (int step = 1; step <= 4; ++step) {
    std::getline(lines, line);
    EXPECT_EQ(json::parse(line)["Step"], step);
    EXPECT_EQ(json::parse(line)["Samples"], 2 * step);
  }
  EXPECT_EQ(json::parse(content(folder() / "out/train.json"))["points"].size(), 1U);
}

TEST_F(Ttml, AllSettingsAreShownAndReadBack) {
  const Outcome first = train("--print-config --with max_steps=9");
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_TRUE(contains(first.out, "  max_steps: 9\n")) << first.out;
  EXPECT_TRUE(contains(first.out, "  embedding_dim: 64\n")) << first.out;
  put("all.yaml", first.out);
  const Outcome second = run("train -c all.yaml --print-config");
  EXPECT_EQ(second.out, first.out) << second.err;
}

TEST_F(Ttml, ALlamaTrainsAndIsExportedAndGoesOn) {
  put("llama.yaml", model("llama", "  num_groups: 1\n"));
  const Outcome outcome =
      train("--model llama.yaml --export weights/model.safetensors --checkpoint c --generate 5");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(folder() / "weights/model.safetensors"));
  const Outcome again = train("--model llama.yaml --checkpoint c --resume --with max_steps=5");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "Step: 5, Loss: ")) << again.out;
  const Outcome from = train("--model llama.yaml --with model_path=weights --with max_steps=1");
  EXPECT_EQ(from.status, 0) << from.err;
  EXPECT_FALSE(contains(from.err, "random")) << from.err;
}

TEST_F(Ttml, AdaptersAreTrainedAndGoOnAndWhatTheyCannotIsSaid) {
  put("llama.yaml", model("llama", "  num_groups: 1\n") +
                        "lora_config:\n  rank: 2\n  target_modules: [q_linear, w1]\n");
  const Outcome outcome = train("--model llama.yaml --checkpoint c --generate 5");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(train("--model llama.yaml --checkpoint c --resume --with max_steps=5").status, 0);
  const Outcome planned = run("fit -c training.yaml --model llama.yaml --no-search");
  EXPECT_TRUE(contains(planned.out, "trained)")) << planned.out << planned.err;
  const auto fails = [&](const std::string& more, const std::string& words) {
    const Outcome failed = train("--model llama.yaml " + more);
    EXPECT_NE(failed.status, 0) << more;
    EXPECT_TRUE(contains(failed.err, words)) << more << ": " << failed.err;
  };
  fails("--with lora_config.rank=0", "no such key without a rank; try --with lora_config.rank=8");
  fails("--with lora_config.rank=-1",
        "lora_config.rank: -1; accepted: 0 to 65536; try --with lora_config.rank=0, the default");
  fails("--with target_modules=[w4]",
        "no layer has a name with 'w4'; accepted: patterns of q_linear");
  const Outcome unknown = run("fit -c training.yaml --model llama.yaml --with target_modules=[w4]");
  EXPECT_EQ(unknown.status, 1) << unknown.err;
  EXPECT_TRUE(contains(unknown.err, "; try --with 'target_modules=[q_linear]'")) << unknown.err;
  fails("--with 'target_modules=[(]'",
        "missing closing parenthesis; accepted: a regular expression "
        "for each layer; try --with 'target_modules=[q_linear");
  fails("--with 'mesh_shape=[1, 2]' --with enable_tp=true",
        "enable_tp or a multihost_config; try --with enable_tp=false --with enable_ddp=true");
  fails("--export weights", "0 with --export; try --checkpoint FILE");
}

TEST_F(Ttml, FitCountsTheStepsOfTheEpochsWhereTheTextIsThere) {
  // 560 characters have 528 windows of 32, and so 264 batches of 2.
  const std::string fit = "fit -c training.yaml --no-search --with max_steps=30_000 --with ";
  EXPECT_TRUE(contains(run(fit + "num_epochs=2").out, "run      528 steps: 33792 tokens"));
  EXPECT_TRUE(contains(run(fit + "num_epochs=1000").out, "run      30000 steps: "));
}

TEST_F(Ttml, TheLargestBatchFitsWithItsAccumulationAndOneMoreDoesNot) {
  // Gradients of all blocks take as much as several sequences.
  for (const char* const accumulation : {"1", "2"}) {
    const std::string fit =
        "fit -c training.yaml --no-search --with num_blocks=4 --with embedding_dim=2048 --with "
        "num_heads=16 --with max_sequence_length=64 --with gradient_accumulation_steps=" +
        std::string(accumulation) + " --with batch_size=";
    const std::string out = run(fit + "1").out;
    const std::string line = "\nbatch    ";
    ASSERT_TRUE(contains(out, line)) << out;
    const int most = std::stoi(out.substr(out.find(line) + line.size()));
    EXPECT_GT(most, 8);
    EXPECT_TRUE(contains(run(fit + std::to_string(most)).out, "each chip: fits")) << most;
    EXPECT_TRUE(contains(run(fit + std::to_string(most + 1)).out, "each chip: over by")) << most;
  }
}

TEST_F(Ttml, FitSaysWhatTheCompletionsOfGrpoTakeBeforeTheirUpdate) {
  put("grpo.yaml",
      "training_config: {tokenizer_type: char, data_path: text, optimizer: {type: AdamW}}\n"
      "grpo_config: {epsilon: 0.2, per_device_train_batch_size: 4, num_generations: 4, "
      "num_iterations: 2, gradient_accumulation_steps: 2, prompts_to_train: 6, temperature: 1, "
      "max_completion_length: 60, warmup_steps: 0, logging_steps: 1, checkpointing: false, "
      "checkpoint_interval: 9}\n");
  put("llama.yaml", model("llama", "  num_groups: 1\n"));
  const std::string fit = "fit -c grpo.yaml --no-search --json - --with max_sequence_length=96 ";
  const auto plan = [&](const std::string& more) {
    const bool named = contains(more, "--model");
    return json::parse(run(fit + (named ? more : "--model llama.yaml " + more)).out);
  };
  const json all = plan(""), found = all["generation"];
  const auto number = [](const json& of, const char* key) { return of[key].get<std::int64_t>(); };
  EXPECT_EQ(found["completions"], 8);
  EXPECT_EQ(found["prompt_tokens"], 36);
  const std::int64_t two = number(found, "second_token_ps") + number(found, "last_token_ps");
  EXPECT_EQ(number(found, "whole_ps"), number(found, "prefill_ps") + two * 59 / 2);
  EXPECT_GT(number(found, "whole_ps"), 10 * number(all["run"], "step_ps"));
  EXPECT_GT(number(found, "last_token_ps"), number(found, "second_token_ps"));
  EXPECT_EQ(found["cache_bytes"], 2 * 8 * 96 * 32 * 2) << "of one group of a block in bfloat16";
  EXPECT_EQ(plan("--with gradient_accumulation_steps=1")["generation"]["completions"], 4);
  EXPECT_FALSE(plan("--model model.yaml").contains("generation"));
  const Outcome text =
      run("fit -c grpo.yaml --model llama.yaml --no-search --with "
          "max_sequence_length=96");
  EXPECT_TRUE(contains(text.out, "8 completions of 60 tokens on each chip, 3 times in the run; "))
      << text.out;
  EXPECT_TRUE(contains(text.out, " with the generation")) << text.out;
  const Outcome single =
      run("fit -c grpo.yaml --model llama.yaml --no-search --with max_sequence_length=96 "
          "--with grpo_config.max_completion_length=1");
  EXPECT_TRUE(contains(single.out, "8 completions of 1 token on each chip")) << single.out;
  EXPECT_FALSE(contains(single.out, "the second token")) << single.out;
}

TEST_F(Ttml, ALlamaOfOneChipIsPlannedWithTheLossOfOneChip) {
  put("llama.yaml", model("llama", "  num_groups: 1\n"));
  const std::string fit =
      "fit -c training.yaml --model llama.yaml --with optimizer.type=AdamW --no-search --json - ";
  EXPECT_TRUE(contains(run(fit).out, "\"cross_entropy\""));
  const Outcome ddp = run(fit + "--with 'mesh_shape=[1, 2]' --with enable_ddp=true");
  EXPECT_TRUE(contains(ddp.out, "\"cross_entropy\"")) << ddp.err;
}

TEST_F(Ttml, ExamplesArePlannedTrainedAndHeldOut) {
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += "{\"prompt\": \"ab\", \"completion\": \"cd\"}\n";
  put("e.jsonl", lines);
  const Outcome planned = run(
      "fit -c training.yaml --data e.jsonl --no-search --with max_steps=100 --with num_epochs=3");
  EXPECT_TRUE(contains(planned.out, "run      30 steps: ")) << planned.out << planned.err;
  const Outcome outcome = train("--data e.jsonl --with eval_every=2 --checkpoint c");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "Validation loss: ")) << outcome.out;
  EXPECT_EQ(
      train("--data e.jsonl --with eval_every=2 --checkpoint c --resume --with max_steps=5").status,
      0);
  const std::string two = "--data e.jsonl --with 'mesh_shape=[1, 2]' --with enable_";
  EXPECT_EQ(train(two + "ddp=true").status, 0);
  const Outcome divided = train(two + "tp=true");
  EXPECT_EQ(divided.status, 1);
  EXPECT_TRUE(contains(divided.err, "examples for layers that devices divide")) << divided.err;
  put("e.jsonl", "{\"prompt\": \"ab\"}");
  EXPECT_TRUE(contains(train("--data e.jsonl").err, "read line 1 of e.jsonl"));
}

TEST_F(Ttml, AnMlpIsPlannedAndTrainedOnPictures) {
  put("mnist.yaml",
      "training_config:\n  batch_size: 128\n  num_epochs: 1\n  logging_interval: 50\n"
      "  mlp_config:\n    input_features: 64\n    hidden_features: [32]\n"
      "    output_features: 4\n");
  const Outcome planned = run("fit -c mnist.yaml");
  EXPECT_TRUE(contains(planned.out, "2212 parameters, 1 x 128 pictures an update")) << planned.out;
  EXPECT_TRUE(contains(planned.out, "468 steps: 59904 pictures")) << planned.out;
  const std::string train = "train -c mnist.yaml --threads 1 --no-progress ";
  const Outcome trained = run(train + "--data synthetic --results r --checkpoint c");
  EXPECT_TRUE(contains(trained.out, "Step: 50, Loss: ")) << trained.err;
  EXPECT_FALSE(contains(trained.out, "Step: 51,")) << trained.out;
  EXPECT_TRUE(contains(trained.out, "Epoch: 1, Accuracy: 0.9")) << trained.out;
  EXPECT_TRUE(contains(trained.err, "pictures/s")) << trained.err;
  std::stringstream result;
  result << std::ifstream(folder() / "r/train.json").rdbuf();
  EXPECT_TRUE(contains(result.str(), "\"accuracy\""));
  EXPECT_TRUE(contains(run(train).err,
                       "it is not set; accepted: a folder with MNIST's files, or "
                       "the word synthetic; try --data synthetic"));
  EXPECT_EQ(run(train + "--data synthetic --generate 5").status, 2);
  EXPECT_EQ(run(train + "--data synthetic --backend emulated --with max_steps=2").status, 0);
}

TEST_F(Ttml, WhatIsWrongIsSaidWithItsLine) {
  const auto fails = [&](const std::string& arguments, int status, const std::string& words) {
    const Outcome outcome = train(arguments);
    EXPECT_EQ(outcome.status, status) << arguments << outcome.out;
    EXPECT_TRUE(contains(outcome.err, words)) << arguments << ": " << outcome.err;
  };
  put("bad.yaml", "training_config:\n  batchsize: 2\n");
  EXPECT_TRUE(contains(run("train -c bad.yaml").err, "bad.yaml:2: 'batchsize'"));
  put("mesh.yaml", "device_config:\n  enable_cp: false\n  mesh_shape: [1, 2]\n");
  fails("--device mesh.yaml", 1, "mesh.yaml:3: device_config.mesh_shape: [1, 2]");
  fails("--with max_stepz=2", 2, "max_steps");
  fails("--with max_steps=", 2, "KEY=VALUE");
  fails("--with max_steps=two", 1, "a whole number");
  fails("--with tokenizer_type=bpe", 1, "--tokenizer tokenizer.json");
  fails("--model missing.yaml", 1, "missing.yaml");
  fails("--with model_config=missing.yaml", 1, "'missing.yaml' is not there");
  put("broken.safetensors", "12345678");
  fails("--with model_path=broken.safetensors", 1, "broken.safetensors: a header of");
  EXPECT_EQ(run("train").status, 2);
  EXPECT_TRUE(contains(run("train").err, "no training file is named"));
}

json fit_of(const CliFixture&, const Outcome& outcome) {
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return json::parse(outcome.out);
}

TEST_F(Ttml, FilesOf2026AreTaken) {
  std::filesystem::create_directories(folder() / "root/tt-train/configs/model_configs");
  put("root/tt-train/configs/model_configs/tiny.yaml",
      "transformer_config:\n  model_type: llama\n  num_heads: 2\n  num_groups: 1\n"
      "  embedding_dim: 64\n  num_blocks: 1\n  max_sequence_length: 32\n");
  put("hosts.yaml", "multihost_config:\n  enabled: true\n  num_workers: 2\n");
  const auto training = [](const std::string& more) {
    return "training_config:\n  project_name: roses\n  model_type: gpt2\n  batch_size: 2\n"
           "  max_steps: 30_0\n  model_save_interval: 0\n  nobody_reads: 1\n"
           "  model_config: ${TT_METAL_RUNTIME_ROOT}/tt-train/configs/model_configs/tiny.yaml\n"
           "  optimizer:\n    type: AdamW\n    lr: 1e-3\n" +
           more;
  };
  put("new.yaml", training("  data_path: nowhere.txt\n"));
  const std::string fit = "fit -c new.yaml --no-search";
  const Outcome unset = run(fit);
  EXPECT_EQ(unset.status, 1) << unset.out;
  EXPECT_TRUE(contains(unset.err, "TT_METAL_RUNTIME_ROOT")) << unset.err;
  ASSERT_EQ(::setenv("TT_METAL_RUNTIME_ROOT", (folder() / "root").c_str(), 1), 0);
  const Outcome plan = run(fit);
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_TRUE(contains(plan.err, "'nobody_reads' of training_config is no key")) << plan.err;
  EXPECT_TRUE(contains(plan.err, "'nowhere.txt' is not there: planned with 96")) << plan.err;
  EXPECT_TRUE(contains(plan.out, "300 steps")) << plan.out;
  put("new.yaml", training("  data_path: text\n  multihost_config: hosts.yaml\n"));
  const Outcome tiers = run(fit);
  EXPECT_EQ(tiers.status, 0) << tiers.err;
  EXPECT_TRUE(contains(tiers.out, "2 workers in 3 tiers")) << tiers.out;
  put("new.yaml", training("  data_path: text\n"));
  const Outcome trained = run("train -c new.yaml --threads 1 --no-progress --with max_steps=2");
  EXPECT_EQ(trained.status, 0) << trained.err;
  put("tokens.yaml", "tokenizer_vocab_size: 40\ndata_length: 3\ntokens: [1, 2, 39]\n");
  const Outcome tokens = run(fit + " --data tokens.yaml --with tokenizer_type=bpe");
  EXPECT_EQ(tokens.status, 0) << tokens.err;
  ::unsetenv("TT_METAL_RUNTIME_ROOT");
}

TEST_F(Ttml, FitHasTheOptionsOfTrain) {
  const Outcome traced = run(
      "fit -c training.yaml --no-search --data text --engine static --results out --memory held");
  ASSERT_EQ(traced.status, 0) << traced.err;
  for (const char* const part : {"batch    ", "phases   forward ", ", optimizer ", "MFU ", " MiB)",
                                 "4 steps: 256 tokens in "}) {
    EXPECT_TRUE(contains(traced.out, part)) << part << "\n" << traced.out;
  }
  EXPECT_TRUE(json::parse(content(folder() / "out/fit.json"))["run"]["fits"]);
  EXPECT_TRUE(std::filesystem::exists(folder() / "held/memory.md"));
  EXPECT_EQ(run("fit -c training.yaml --data missing").status, 1);
}

TEST_F(Ttml, ARunIsNotWrittenOverAnother) {
  ASSERT_EQ(train("--results out").status, 0);
  const Outcome again = train("--results out");
  EXPECT_EQ(again.status, 1);
  EXPECT_TRUE(contains(again.err, "--force")) << again.err;
  EXPECT_EQ(train("--results out --force").status, 0);
  EXPECT_EQ(train("--export /howard_is_not_there/x --force").status, 1);
  EXPECT_FALSE(std::filesystem::exists("/howard_is_not_there"));
}

TEST_F(Ttml, TheLogOfAResumedRunHasAllItsSteps) {
  put("c.abcdef.part", "left over");
  ASSERT_EQ(train("--results out --checkpoint c").status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder() / "c.abcdef.part"));
  ASSERT_EQ(train("--results out --checkpoint c --resume --with max_steps=6").status, 0);
  std::istringstream lines(content(folder() / "out/steps.jsonl"));
  std::string line;
  int step = 0;
  for (std::getline(lines, line); std::getline(lines, line);) {
    EXPECT_EQ(json::parse(line)["Step"], ++step);
  }
  EXPECT_EQ(step, 6);
}

TEST_F(Ttml, AResumedPresetHasItsSettings) {
  const std::string given =
      "train --preset nano_gpt --data text --threads 1 --no-progress --checkpoint c ";
  ASSERT_EQ(run(given + "--with num_blocks=1 --with embedding_dim=64 --with num_heads=2 --with "
                        "max_sequence_length=32 --with batch_size=2 --with max_steps=2")
                .status,
            0);
  const Outcome resumed = run(given + "--resume --with max_steps=3");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_TRUE(contains(resumed.out, "Step: 3, Loss: ")) << resumed.out;
}

TEST_F(Ttml, ALossThatIsNotFiniteLeavesWhatWasRun) {
  const Outcome outcome =
      train("--results out --with learning_rate=1e30 --with max_steps=50 --force");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "use_clip_grad_norm: true")) << outcome.err;
  EXPECT_TRUE(contains(content(folder() / "out/steps.jsonl"), "\"Step\":1")) << outcome.err;
}

TEST_F(Ttml, FitSaysWhatARunTakesAndWhatElseWouldFit) {
  const Outcome text = run("fit -c training.yaml");
  ASSERT_EQ(text.status, 0) << text.err;
  for (const char* const part :
       {"roses: ", "DRAM     ", ": fits", "step     ", "tokens/s", "trace "}) {
    EXPECT_TRUE(contains(text.out, part)) << part << "\n" << text.out;
  }
  const json plan = fit_of(*this, run("fit -c training.yaml --json -"));
  EXPECT_TRUE(plan["run"]["fits"]);
  EXPECT_GT(plan["others"].size(), 1U);
  for (const json& other : plan["others"]) {
    EXPECT_EQ(other["batch_size"].get<int>() * other["gradient_accumulation_steps"].get<int>() *
                  other.value("workers", 1),
              2);
  }
}

TEST_F(Ttml, FitCountsNoParametersOfAModelThatCannotBeMade) {
  const Outcome plan =
      run("fit -c training.yaml --no-search --with embedding_dim=16777152 --with num_heads=1");
  EXPECT_TRUE(contains(plan.out, "does not run: cannot make a tensor shape")) << plan.out;
  EXPECT_FALSE(contains(plan.out, "parameters")) << plan.out;
}

TEST_F(Ttml, FitSeesWhatSettingsDoToMemoryAndTime) {
  const auto plan = [&](const std::string& with) {
    return fit_of(*this, run("fit -c training.yaml --no-search --json - " + with))["run"];
  };
  const std::string deep = "--with num_blocks=8 --with batch_size=8 ";
  const json kept = plan(deep);
  const json again = plan(deep + "--with runner_type=memory_efficient");
  EXPECT_LT(again["dram_peak_bytes"], kept["dram_peak_bytes"]);
  EXPECT_GT(again["kernels_ps"], kept["kernels_ps"]);
  // Each batch more takes what the second takes.
  const auto time = [&](int batches) {
    return plan("--with gradient_accumulation_steps=" + std::to_string(batches))["step_ps"]
        .get<std::int64_t>();
  };
  EXPECT_EQ(time(5) - time(2), 3 * (time(2) - time(1)));
}

TEST_F(Ttml, ADeepSeekIsPlannedByTheExpertsThatATokenUses) {
  put("experts.yaml",
      "transformer_config:\n  model_type: deepseek\n  num_heads: 2\n  embedding_dim: 64\n"
      "  num_blocks: 3\n  n_dense_layers: 1\n  max_sequence_length: 32\n  moe_inter_dim: 32\n"
      "  q_lora_rank: 0\n");
  const std::string files = " -c training.yaml --model experts.yaml ";
  const auto plan = [&](int experts) {
    return fit_of(*this, run("fit" + files + "--no-search --json - --with n_expert_groups=1 " +
                             "--with n_routed_experts=" + std::to_string(experts)))["run"];
  };
  const json few = plan(4), many = plan(8);
  const auto parameters = [](const json& of) { return of["parameters"].get<double>(); };
  constexpr double kExpert = 3 * 64 * 32, kBlocks = 2;  // those with experts
  EXPECT_EQ(parameters(many) - parameters(few), kBlocks * 4 * (kExpert + 64));
  EXPECT_EQ(many["active_parameters"].get<double>(), parameters(many) - kBlocks * 6 * kExpert);
  const std::string used = std::to_string(many["active_parameters"].get<std::int64_t>());
  EXPECT_TRUE(contains(run("fit --no-search" + files).out,
                       " parameters (" + used + " for a token), 1 x 2 sequences"));
  // A token uses two experts of a block, and heads have 96 columns of q and 64 of v.
  const auto work = [&](const json& of, int experts) {
    return 6 * (parameters(of) - kBlocks * (experts - 2) * kExpert) + 6 * 3 * 2 * (96 + 64) * 32.0;
  };
  const auto counted = [](const json& of) {
    return of["mfu"].get<double>() * of["step_ps"].get<double>();
  };
  EXPECT_NEAR(counted(many) / counted(few), work(many, 8) / work(few, 4), 1e-9);
  const Outcome exported = run("train" + files + "--export x.safetensors");
  EXPECT_EQ(exported.status, 1);
  EXPECT_TRUE(contains(exported.err, "transformer_config.model_type: 'deepseek' with --export"))
      << exported.err;
}

TEST_F(Ttml, FitDividesABatchAndWeightsAmongChips) {
  put("llama.yaml", model("llama", "  num_groups: 2\n  intermediate_dim: 256\n"));
  const auto plan = [&](const std::string& device) {
    put("device.yaml", "device_config:\n" + device);
    return fit_of(*this, run("fit -c training.yaml --model llama.yaml --device device.yaml "
                             "--with vocab_size=128 --with tokenizer_type=bpe --no-search --json "
                             "-"))["run"];
  };
  const json one = plan("  mesh_shape: [1, 1]\n");
  const json ddp = plan("  mesh_shape: [1, 2]\n  enable_ddp: true\n");
  const json tp = plan("  mesh_shape: [1, 2]\n  enable_tp: true\n");
  EXPECT_EQ(ddp["parameters"], one["parameters"]);
  EXPECT_EQ(tp["parameters"], one["parameters"]);
  EXPECT_EQ(one["gradient_sums_ps"], 0);
  EXPECT_GT(ddp["gradient_sums_ps"], 0);
  // The host is what small steps wait for: it writes each launch to both chips.
  EXPECT_GT(ddp["step_ps"].get<std::int64_t>() - one["step_ps"].get<std::int64_t>(),
            one["launches"].get<std::int64_t>() * 10'000'000);
  EXPECT_EQ(ddp["exchanges_ps"], 0);
  EXPECT_EQ(tp["gradient_sums_ps"], 0);
  EXPECT_GT(tp["exchanges_ps"], 0);
  EXPECT_LT(tp["dram_peak_bytes"], one["dram_peak_bytes"]);
  put("device.yaml", "device_config:\n  mesh_shape: [1, 4]\n  enable_ddp: true\n");
  const Outcome odd = run("fit -c training.yaml --device device.yaml");
  EXPECT_EQ(odd.status, 1);
  EXPECT_TRUE(contains(odd.err, "2 sequences on 4 groups of devices")) << odd.err;
}

// Each of 17 gradients is cast to float32, squared, summed in four launches and multiplied, and the
// sums are added; a reading of their sum waits for the chip.
TEST_F(Ttml, FitCountsTheClippingOfGradients) {
  const auto plan = [&](const std::string& more) {
    return fit_of(*this, run("fit -c training.yaml --no-search --json - " + more))["run"];
  };
  const json plain = plan(""), clipped = plan("--with use_clip_grad_norm=true");
  EXPECT_LT(plan("--with optimizer.type=SGD")["launches"], plain["launches"]);
  EXPECT_EQ(clipped["launches"], plain["launches"].get<int>() + 17 * (1 + 1 + 4 + 1) + 16);
  EXPECT_GT(clipped["step_ps"], plain["step_ps"]);
  EXPECT_GT(clipped["kernels_ps"], plain["kernels_ps"]);
  EXPECT_EQ(clipped["parameters"], plain["parameters"]);
  // A run has more entries of ttnn's program cache, too.
  const auto entries = [&](const std::string& more) {
    const std::string out = train("--with max_steps=1 " + more).out;
    const std::size_t at = out.find("cache entries: ");
    return at == std::string::npos ? 0 : std::stoi(out.substr(at + 15));
  };
  EXPECT_GT(entries("--with use_clip_grad_norm=true"), entries(""));
}

TEST_F(Ttml, FitNeedsNoFileThatOnlyATrainingReads) {
  const std::string keys =
      " -c training.yaml --with tokenizer_type=bpe --with tokenizer_path=none.json "
      "--with data_path=none.txt";
  const Outcome planned = run("fit --no-search" + keys);
  EXPECT_EQ(planned.status, 0) << planned.err;
  EXPECT_TRUE(contains(run("train --print-config" + keys).out, "none.json"));
  EXPECT_TRUE(contains(run("train" + keys).err, "'none.json' is not there"));
  const Outcome data = train("--with data_path=none.txt");
  EXPECT_EQ(data.status, 1);
  EXPECT_TRUE(contains(data.err, "data_path: 'none.txt' is not there")) << data.err;
}

TEST_F(Ttml, FitRefusesWhatNobodyWaitsFor) {
  const Outcome deep = run("fit -c training.yaml --with num_blocks=1000000");
  EXPECT_EQ(deep.status, 1);
  EXPECT_TRUE(contains(deep.err, "num_blocks: 1000000 blocks; accepted: 1024 at most")) << deep.err;
  const Outcome wide = run("fit -c training.yaml --with batch_size=1000000000");
  EXPECT_EQ(wide.status, 1);
  EXPECT_TRUE(contains(wide.err, "16777216 tokens at most")) << wide.err;
}

TEST_F(Ttml, AModelBesideTheTrainingFileComesBeforeOneFromHere) {
  std::filesystem::create_directory(folder() / "there");
  put("there/training.yaml", content(folder() / "training.yaml"));
  put("there/model.yaml", model("gpt2", "  runner_type: memory_efficient\n"));
  const Outcome outcome = run("train -c there/training.yaml --print-config");
  EXPECT_TRUE(contains(outcome.out, "memory_efficient")) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace howard::cli
