// SPDX-License-Identifier: Apache-2.0
//
// train and fit over files of TTML on several devices: meshes, pipelines and tiers.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/ttml_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;

class TtmlMesh : public Ttml {
 protected:
  TtmlMesh() {
    put("llama.yaml", model("llama", "  num_groups: 2\n  intermediate_dim: 256\n"));
    put("stages.yaml",
        "multihost_config:\n  enabled: true\n  num_workers: 2\n"
        "  pipeline_parallel_config: {num_blocks: 4, blocks_per_rank: {0: 3, 1: 1}}\n");
    put("even.yaml",
        "multihost_config:\n  enabled: true\n  num_workers: 2\n"
        "  pipeline_parallel_config: {num_blocks: 4, blocks_per_rank: {0: 2, 1: 2}}\n");
    put("tp.yaml", "device_config: {mesh_shape: [1, 2], enable_tp: true}\n");
    put("tiers.yaml", "multihost_config: {enabled: true, num_workers: 3}\n");
  }
  json plan(const std::string& more) const {
    const Outcome outcome = run(of_both("fit", more) + " --no-search --json -");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.status == 0 ? json::parse(outcome.out)["run"] : json();
  }
  static std::string of_both(const std::string& verb, const std::string& more) {
    return verb +
           " -c training.yaml --model llama.yaml --with num_blocks=4 --with vocab_size=64 "
           "--with gradient_accumulation_steps=4 " +
           more;
  }
};

TEST_F(TtmlMesh, ATextThatNoKeyNamesReplacesNoVocabulary) {
  std::string sized = model("gpt2", "");
  sized.replace(sized.find("vocab_size: 96"), 14, "vocab_size: 1024");
  put("sized.yaml", "training_config:\n  batch_size: 2\n  optimizer: {type: AdamW}\n" + sized);
  const auto parameters = [&](const std::string& more) {
    return json::parse(
        run("fit -c sized.yaml --no-search --json - " + more).out)["run"]["parameters"];
  };
  const json without = parameters("");
  std::filesystem::create_directory(folder() / "data");
  put("data/shakespeare.txt", "to be or not to be");
  EXPECT_EQ(parameters(""), without);
  EXPECT_LT(parameters("--data data/shakespeare.txt").get<int>(), without.get<int>());
  EXPECT_LT(parameters("--with data_path=data/shakespeare.txt").get<int>(), without.get<int>());
}

TEST_F(TtmlMesh, FitPlansParametersThatChipsDivide) {
  const auto fsdp = [](int chips, const std::string& also = "") {
    return "--with batch_size=8 --with num_blocks=8 --with embedding_dim=256 --with num_heads=4 "
           "--with num_groups=4 --with enable_fsdp=true --with 'mesh_shape=[1," +
           std::to_string(chips) + "]' " + also;
  };
  const json one = plan(fsdp(1));
  const json eager = plan(fsdp(4));
  const json lazy = plan(fsdp(4, "--with lazy_parameter_init=true"));
  EXPECT_EQ(eager["fsdp"], 4);
  EXPECT_EQ(eager["chips"], 4);
  EXPECT_EQ(eager["parameters"], one["parameters"]);
  EXPECT_LT(lazy["dram_peak_bytes"], one["dram_peak_bytes"]);
  EXPECT_LE(lazy["dram_peak_bytes"], eager["dram_peak_bytes"]);
  EXPECT_GT(eager["exchanges_ps"], one["exchanges_ps"]);
  EXPECT_EQ(eager["step_ps"], lazy["step_ps"]);
  // A block that runs again gathers its parameters a third time.
  const json again = plan(fsdp(4, "--with runner_type=memory_efficient"));
  EXPECT_GT(again["exchanges_ps"], eager["exchanges_ps"]);
  const auto refused = [&](const std::string& also, const std::string& words) {
    const Outcome outcome = run(of_both("fit", fsdp(4, also)) + " --no-search");
    EXPECT_EQ(outcome.status, 1) << also;
    EXPECT_TRUE(contains(outcome.err, words)) << outcome.err;
  };
  refused("--with use_clip_grad_norm=true", "false with enable_fsdp, as in TTML");
  refused("--with optimizer.type=MuonComposite", "no device has a whole matrix");
  refused("--multihost tiers.yaml", "false beside a multihost_config");
  refused("--with enable_ddp=true --with enable_tp=true", "a mesh has two axes");
}

TEST_F(TtmlMesh, ARunWhoseParametersAreDividedIsThatOfOneDevice) {
  const std::string options = " --with batch_size=4 --threads 2 --no-progress --parameters float32";
  const Outcome alone = run(of_both("train", options + " --export one.safetensors"));
  const Outcome shared =
      run(of_both("train", options + " --with enable_fsdp=true --with "
                                     "'mesh_shape=[1,2]' --export two.safetensors"));
  ASSERT_EQ(shared.status, 0) << shared.err;
  EXPECT_TRUE(contains(shared.err, "FSDP 2")) << shared.err;
  EXPECT_EQ(std::filesystem::file_size(folder() / "one.safetensors"),
            std::filesystem::file_size(folder() / "two.safetensors"));
}

TEST_F(TtmlMesh, ALossOfSeveralDevicesThatIsNotFiniteLeavesWhatWasRun) {
  const Outcome outcome =
      run(of_both("train",
                  "--device tp.yaml --results out --with learning_rate=1e30 --with max_steps=9 "
                  "--threads 2"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "a smaller learning_rate")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "2 devices divide")) << outcome.err;
  EXPECT_TRUE(contains(content(folder() / "out/steps.jsonl"), "\"Step\":1")) << outcome.err;
  EXPECT_TRUE(json::parse(content(folder() / "out/train.json"))["interrupted"]);
}

TEST_F(TtmlMesh, TiersTrainWithWorkersThatAreMeshes) {
  const Outcome outcome =
      run(of_both("train",
                  "--device tp.yaml --multihost tiers.yaml --with num_workers=1 "
                  "--with max_steps=2 --threads 2"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "each a mesh of DDP 1 x TP 2")) << outcome.err;
}

TEST_F(TtmlMesh, FitPlansTheStagesOfAPipeline) {
  const json ttml = plan("--multihost stages.yaml");
  const json gpipe = plan("--multihost stages.yaml --schedule gpipe");
  const json interleaved = plan("--multihost stages.yaml --schedule 1f1b");
  EXPECT_EQ(ttml["stages"], 2);
  EXPECT_EQ(ttml["blocks_per_rank"], (std::vector<int>{3, 1}));
  ASSERT_EQ(ttml["parts"].size(), 2U);
  EXPECT_EQ(ttml["parts"][0]["has"], "3 blocks");
  EXPECT_EQ(gpipe["parts"][0]["micro_batches_held"], 4);
  EXPECT_EQ(interleaved["parts"][0]["micro_batches_held"], 2);
  EXPECT_LT(interleaved["step_ps"], ttml["step_ps"]);
  EXPECT_LT(interleaved["bubble_ps"], ttml["bubble_ps"]);
  EXPECT_LT(interleaved["dram_peak_bytes"], gpipe["dram_peak_bytes"]);
  for (const json& run : {ttml, gpipe, interleaved}) {
    for (const json& part : run["parts"]) {
      EXPECT_EQ(part["working_ps"].get<std::int64_t>() + part["waiting_ps"].get<std::int64_t>(),
                run["step_ps"]);
    }
  }
  const Outcome text = run(of_both("fit", "--multihost stages.yaml"));
  for (const char* const words : {"2 chips, PP 2 (ttml), of", "What each stage does", "stage 1"}) {
    EXPECT_TRUE(contains(text.out, words)) << words << "\n" << text.out;
  }
  EXPECT_TRUE(contains(run(of_both("fit", "--schedule gpipe")).err, "pipeline_parallel_config"));
}

TEST_F(TtmlMesh, FitPlansChunksFabricSocketsAndDividedRows) {
  const json whole = plan("--multihost even.yaml --schedule 1f1b");
  const json chunks = plan("--multihost even.yaml --schedule 1f1b --chunks 2");
  EXPECT_EQ(chunks["chunks"], 2);
  EXPECT_EQ(chunks["parts"][0]["has"], "2 blocks");
  EXPECT_EQ(whole["parts"][0]["micro_batches_held"], 2);
  EXPECT_EQ(chunks["parts"][0]["micro_batches_held"], 5) << "each in one chunk";
  const json fabric = plan("--multihost even.yaml --schedule 1f1b --with socket_type=fabric");
  EXPECT_LT(fabric["exchanges_ps"], whole["exchanges_ps"]);
  EXPECT_EQ(
      fabric["dram_peak_bytes"].get<std::int64_t>() - whole["dram_peak_bytes"].get<std::int64_t>(),
      80'000'000)
      << "the ring of the one socket that a stage receives from";
  const std::string halves = "--device tp.yaml --with max_sequence_length=64";
  const json tp = plan(halves);
  const json sp = plan(halves + " --with enable_sp=true");
  EXPECT_EQ(sp["sequence_parallel"], true);
  EXPECT_LT(sp["dram_peak_bytes"], tp["dram_peak_bytes"]);
  const Outcome others = run(of_both("fit", "--multihost even.yaml"));
  EXPECT_TRUE(contains(others.out, "(1f1b, 2 chunks)")) << others.out;
}

TEST_F(TtmlMesh, FitPlansTiersWithTtmlsMessages) {
  const json three = plan("--multihost tiers.yaml");
  const json two = plan("--multihost tiers.yaml --tiers 2");
  const std::int64_t tensors = 3 + 8 * 4;
  const auto parameters = three["parameters"].get<std::int64_t>();
  // W T gradients and W T parameters of bfloat16; in three tiers T of each more. The nine gains of
  // 64 numbers are whole tiles.
  EXPECT_EQ(three["messages"], 8 * tensors);
  EXPECT_EQ(three["message_bytes"], 8 * 2 * (parameters + 31 * 64 * 9));
  EXPECT_EQ(two["messages"], 6 * tensors);
  EXPECT_EQ(three["parts"].size(), 3U);
  EXPECT_EQ(two["parts"].size(), 2U);
  EXPECT_LT(three["parts"][0]["dram_peak_bytes"], plan("")["dram_peak_bytes"]) << "no optimizer";
  // The chips of a rank send and receive one after the other.
  const json meshes = plan("--multihost tiers.yaml --device tp.yaml");
  EXPECT_EQ(meshes["chips"], 10);
  EXPECT_EQ(meshes["messages"], 16 * tensors);
  EXPECT_EQ(meshes["parameters"], plan("--device tp.yaml")["parameters"]);
  EXPECT_GT(meshes["exchanges_ps"], 0);
  const json linked = plan("--multihost tiers.yaml --device tp.yaml --with socket_type=fabric");
  EXPECT_LT(linked["exchanges_ps"], meshes["exchanges_ps"]);
  // A network that is twice as fast passes the same messages in half the time.
  EXPECT_LT(plan("--multihost tiers.yaml --set host.message=2.5GB/s")["exchanges_ps"],
            three["exchanges_ps"]);
}

TEST_F(TtmlMesh, FitSaysWhatAnEmulatedRunTakes) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 012345";
  put("longer", text);
  for (const char* const way :
       {"", "--multihost stages.yaml", "--multihost stages.yaml --schedule 1f1b",
        "--multihost even.yaml --schedule 1f1b --chunks 2",
        "--device tp.yaml --with enable_sp=true --with max_sequence_length=64",
        "--multihost tiers.yaml", "--multihost tiers.yaml --tiers 2"}) {
    const Outcome outcome =
        run(of_both("train", way) +
            " --data longer --backend emulated --with max_steps=3 --results r --force");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json result = json::parse(content(folder() / "r/train.json"));
    const json& samples = result["points"][0]["metrics"]["time"]["samples"];
    const double planned = plan(way)["step_ps"].get<double>() * 1e-12;
    // Passes are planned from an idle chip to an idle chip, with the sending after that: the more
    // of them there are, the longer. Ranks of tiers read a tensor while others receive the one
    // before it, and a plan counts both.
    EXPECT_NEAR(planned / samples.back().get<double>(), 1, contains(way, "tiers") ? 0.15 : 0.07)
        << way;
  }
}

}  // namespace
}  // namespace howard::cli
