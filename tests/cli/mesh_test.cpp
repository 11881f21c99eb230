// SPDX-License-Identifier: Apache-2.0
//
// Trainings on several devices over files of TTML: as threads, and as processes where there is MPI.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;

class Mesh : public CliFixture {
 protected:
  Mesh() {
    // More than 32 tokens: two devices round as many up to the same as one.
    std::string text = "ABCDEFGHIJKLMNOPQRSTUVWXYZ ";
    for (int i = 0; i < 20; ++i) text += "a rose is a rose is a rose. ";
    put("text", text);
    put("training.yaml",
        "training_config:\n"
        "  batch_size: 4\n  max_steps: 3\n  learning_rate: 0.003\n"
        "  gradient_accumulation_steps: 2\n  data_path: text\n"
        "transformer_config:\n"
        "  model_type: llama\n  num_heads: 2\n  num_groups: 2\n  embedding_dim: 64\n"
        "  num_blocks: 2\n  max_sequence_length: 32\n  intermediate_dim: 64\n");
    put("ddp.yaml", "device_config: {enable_ddp: true, mesh_shape: [1, 2]}\n");
    put("tp.yaml", "device_config: {enable_tp: true, mesh_shape: [1, 2]}\n");
    put("stages.yaml",
        "multihost_config:\n  enabled: true\n  num_workers: 2\n"
        "  pipeline_parallel_config: {num_blocks: 2, blocks_per_rank: {0: 1, 1: 1}}\n");
    put("tiers.yaml", "multihost_config: {enabled: true, num_workers: 1}\n");
  }

  static std::string command(const std::string& more) {
    return "train -c training.yaml --threads 1 --dtype float32 --parameters float32 " + more;
  }
  Outcome train(const std::string& more) const { return run(command(more)); }

  static std::vector<double> losses(const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::vector<double> found;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t loss = line.find(", Loss: ");
      if (loss != std::string::npos) found.push_back(std::stod(line.substr(loss + 8)));
    }
    return found;
  }
  static void expect_same(const std::vector<double>& one, const std::vector<double>& other,
                          const std::string& where) {
    ASSERT_EQ(one.size(), other.size()) << where;
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i] / other[i], 1, 1e-4) << where;
  }
};

TEST_F(Mesh, EachWayToShareGivesTheLossesOfOneDevice) {
  const auto alone = losses(train(""));
  ASSERT_EQ(alone.size(), 3U);
  for (const char* const way :
       {"--device ddp.yaml", "--device tp.yaml", "--multihost stages.yaml",
        "--multihost stages.yaml --schedule gpipe", "--multihost stages.yaml --engine traced",
        "--multihost tiers.yaml --engine static", "--multihost stages.yaml --device ddp.yaml",
        "--multihost tiers.yaml", "--multihost tiers.yaml --tiers 2"}) {
    expect_same(losses(train(way)), alone, way);
  }
}

TEST_F(Mesh, InterleavedChunksGiveTheLossesOfOneDevice) {
  put("four.yaml",
      "multihost_config:\n  enabled: true\n  num_workers: 2\n"
      "  pipeline_parallel_config: {num_blocks: 4, blocks_per_rank: {0: 2, 1: 2}}\n");
  const std::string more = " --with num_blocks=4";
  const std::string chunks = "--multihost four.yaml --schedule 1f1b --chunks 2" + more;
  expect_same(losses(train(chunks)), losses(train(more)), chunks);
  const auto fails = [&](const std::string& arguments, int status, const std::string& words) {
    const Outcome outcome = train(arguments);
    EXPECT_EQ(outcome.status, status) << arguments << outcome.out;
    EXPECT_TRUE(contains(outcome.err, words)) << arguments << ": " << outcome.err;
  };
  fails("--chunks 2", 2, "--chunks for the stages");
  fails("--multihost stages.yaml --chunks 2", 2, "--chunks with --schedule 1f1b");
  fails("--multihost stages.yaml --schedule 1f1b --chunks 2", 1, "a block for each chunk");
  fails(chunks + " --with gradient_accumulation_steps=3", 1, "that the 2 stages divide");
}

TEST_F(Mesh, ACheckpointGoesOnOnAnotherMeshAndResultsAreWritten) {
  const auto whole = losses(train("--with max_steps=4"));
  losses(train("--device tp.yaml --checkpoint c --with max_steps=2"));
  const Outcome rest =
      train("--multihost stages.yaml --checkpoint c --resume --with max_steps=4 --results out");
  expect_same(losses(rest), {whole[2], whole[3]}, rest.err);
  for (const char* const file : {"train.json", "metrics.json", "steps.jsonl", "loss.png"}) {
    EXPECT_TRUE(std::filesystem::exists(folder() / "out" / file)) << file;
  }
  const Outcome again = train("--device ddp.yaml --checkpoint c --resume --with max_steps=4");
  EXPECT_TRUE(contains(again.err, "4 steps were done already")) << again.err;
}

TEST_F(Mesh, EnginesExportValidationAndThePageAreThoseOfOneDevice) {
  const auto alone = losses(train("--with eval_every=2 --export one.safetensors"));
  const auto validation = [](const Outcome& outcome) {
    const std::size_t at = outcome.out.find("Validation loss: ");
    return at == std::string::npos ? 0 : std::stod(outcome.out.substr(at + 17));
  };
  const double validated = validation(train("--with eval_every=2"));
  EXPECT_GT(validated, 0);
  const auto size = std::filesystem::file_size(folder() / "one.safetensors");
  for (const char* const way :
       {"--device ddp.yaml", "--device ddp.yaml --engine traced",
        "--device tp.yaml --engine static", "--multihost stages.yaml", "--multihost tiers.yaml"}) {
    const Outcome outcome =
        train(std::string(way) + " --with eval_every=2 --export w --results out --page --force");
    expect_same(losses(outcome), alone, way);
    EXPECT_NEAR(validation(outcome) / validated, 1, 1e-4) << way;
    EXPECT_EQ(std::filesystem::file_size(folder() / "w"), size) << way;
    EXPECT_TRUE(std::filesystem::exists(folder() / "out" / "index.html")) << way;
  }
  // What was exported is where another run begins.
  EXPECT_LT(losses(train("--device tp.yaml --with model_path=w"))[0], alone[0]);
}

TEST_F(Mesh, EachWayToShareWritesTheTextOfOneDevice) {
  const std::string writing = " --generate 24 --prompt 'a rose' --temperature 1";
  const auto text = [&](const std::string& way) {
    const Outcome outcome = train(way + writing);
    EXPECT_EQ(outcome.status, 0) << way << outcome.err;
    const std::size_t at = outcome.out.rfind("a rose");
    return at == std::string::npos ? "" : outcome.out.substr(at);
  };
  const std::string alone = text("");
  EXPECT_EQ(alone.size(), 6 + 24 + 1U) << alone;
  for (const char* const way :
       {"--device ddp.yaml", "--device tp.yaml", "--multihost stages.yaml",
        "--multihost stages.yaml --device tp.yaml", "--multihost tiers.yaml",
        "--device tp.yaml --engine traced", "--multihost stages.yaml --backend emulated"}) {
    EXPECT_EQ(text(way), alone) << way;
  }
}

TEST_F(Mesh, MemoryIsThatOfEachDevice) {
  for (const char* const way : {"--device ddp.yaml", "--multihost stages.yaml --backend emulated",
                                "--multihost tiers.yaml"}) {
    const Outcome outcome = train(std::string(way) + " --with max_steps=1 --memory mem");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "memory of each device in the first step")) << outcome.err;
    const std::string table = content(folder() / "mem" / "memory.md");
    for (const char* const word : {"optimizer", "forward", "backward", "peak"}) {
      EXPECT_TRUE(contains(table, word)) << way << table;
    }
    for (const char* const device : {"device_0", "device_1"}) {
      for (const char* const file : {"memory.md", "buffers.csv", "device_memory.svg"}) {
        EXPECT_TRUE(std::filesystem::exists(folder() / "mem" / device / file)) << device << file;
      }
      EXPECT_TRUE(contains(content(folder() / "mem" / device / "buffers.csv"), "DRAM,")) << way;
    }
  }
}

TEST_F(Mesh, TiersGoOnFromTheirCheckpointAsIfTheyHadNotStopped) {
  for (const char* const way :
       {"--multihost tiers.yaml --with dropout_prob=0.2",
        "--multihost tiers.yaml --tiers 2 --engine traced --with dropout_prob=0.2"}) {
    std::filesystem::remove(folder() / "c");
    const std::string run = std::string(way) + " --with num_workers=2 --with max_steps=";
    const auto whole = losses(train(run + "4"));
    ASSERT_EQ(whole.size(), 4U);
    losses(train(run + "2 --checkpoint c"));
    EXPECT_EQ(losses(train(run + "4 --checkpoint c --resume")),
              (std::vector<double>{whole[2], whole[3]}))
        << way;
  }
  // One device goes on from it with batches of its own.
  EXPECT_EQ(
      losses(train("--checkpoint c --resume --with max_steps=5 --with dropout_prob=0.2")).size(),
      1U);
}

TEST_F(Mesh, EmulatedChipsKeepAVirtualTime) {
  const Outcome first = train("--device tp.yaml --backend emulated --with max_steps=2");
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(train("--device tp.yaml --backend emulated --with max_steps=2").out, first.out);
}

TEST_F(Mesh, AStepOfEmulatedChipsSaysWhereItsTimeGoes) {
  const auto parts = [&](const std::string& way) {
    const Outcome outcome = train(way + " --backend emulated --results out --force");
    EXPECT_TRUE(contains(outcome.err, "a step, as the mean of its chips: compute ")) << outcome.err;
    const json metrics = json::parse(content(folder() / "out/train.json"))["points"][0]["metrics"];
    std::map<std::string, double> last;
    double sum = 0;
    for (const char* const part : {"compute", "exchange", "bubble", "rest"}) {
      last[part] = metrics[std::string("step_time.") + part]["samples"].back();
      sum += last[part];
    }
    EXPECT_NEAR(sum, metrics["time"]["samples"].back(), 1e-11) << way;
    return last;
  };
  auto ddp = parts("--device ddp.yaml");
  EXPECT_GT(ddp["compute"], 0);
  EXPECT_GT(ddp["exchange"], 0);
  EXPECT_EQ(ddp["bubble"], 0);
  EXPECT_GT(parts("--device ddp.yaml --engine traced")["compute"], 0);
  auto stages = parts("--multihost stages.yaml");
  EXPECT_GT(stages["bubble"], 0);
  EXPECT_EQ(stages["exchange"], 0) << "stages send through their hosts";
}

TEST_F(Mesh, ARunThatAChipCannotHoldIsRefusedWithWhatFits) {
  const Outcome one = train(
      "--backend emulated --with embedding_dim=2048 --with num_heads=32 --with num_groups=4 "
      "--with num_blocks=4 --with intermediate_dim=5632 --with max_sequence_length=1024 "
      "--with batch_size=16 --with gradient_accumulation_steps=1");
  EXPECT_EQ(one.status, 1) << one.out;
  EXPECT_TRUE(contains(one.err, "more than a chip has; accepted: on 1 chip: --with batch_size="))
      << one.err;
}

TEST_F(Mesh, WhatSeveralDevicesDoNotDoIsRefused) {
  const auto fails = [&](const std::string& arguments, int status, const std::string& words) {
    const Outcome outcome = train(arguments);
    EXPECT_EQ(outcome.status, status) << arguments << outcome.out;
    EXPECT_TRUE(contains(outcome.err, words)) << arguments << ": " << outcome.err;
  };
  fails("--device ddp.yaml --generate 5 --prompt 123", 1, "'1'");
  fails("--device ddp.yaml --export text/w", 1, "text");
  fails("--device ddp.yaml --with model_path=no.safetensors", 1, "no.safetensors");
  fails("--schedule gpipe", 2, "--schedule for the stages");
  fails("--tiers 2", 2, "--tiers for the workers");
  fails("--device tp.yaml --with num_heads=1 --with num_groups=1", 1, "1 heads on 2 devices");
  fails("--multihost stages.yaml --with num_blocks=3", 1, "the model's num_blocks, 3");
  fails("--device ddp.yaml --with learning_rate=1e30", 1, "not finite");
}

#ifdef HOWARD_MPIRUN
class MeshProcesses : public Mesh {
 protected:
  Outcome train_in(int processes, const std::string& more, const std::string& before = "") const {
    return run(command(more), "ASAN_OPTIONS=detect_leaks=0 '" HOWARD_MPIRUN
                              "' --allow-run-as-root --oversubscribe -n " +
                                  std::to_string(processes) + " " + before);
  }
};

TEST_F(MeshProcesses, TrainAsThreadsDo) {
  EXPECT_EQ(losses(train_in(2, "--device ddp.yaml")), losses(train("--device ddp.yaml")));
  EXPECT_EQ(losses(train_in(2, "--multihost stages.yaml --schedule 1f1b")),
            losses(train("--multihost stages.yaml --schedule 1f1b")));
  EXPECT_EQ(losses(train_in(3, "--multihost tiers.yaml")), losses(train("--multihost tiers.yaml")));
  EXPECT_EQ(losses(train_in(2, "--multihost stages.yaml --engine traced")),
            losses(train("--multihost stages.yaml --engine traced")));
  const std::string more = "--device ddp.yaml --engine traced --with eval_every=2 --export ";
  EXPECT_EQ(losses(train_in(2, more + "processes")), losses(train(more + "threads")));
  EXPECT_EQ(content(folder() / "processes"), content(folder() / "threads"));
}

TEST_F(MeshProcesses, AreAsManyAsDevices) {
  const Outcome three = train_in(3, "--device ddp.yaml");
  EXPECT_EQ(three.status, 1);
  EXPECT_TRUE(contains(three.err, "3 processes for 2 devices")) << three.err;
  EXPECT_TRUE(contains(train_in(2, "").err, "2 processes were started"));
}

TEST_F(MeshProcesses, EndWithTheOneThatDiesAndTheCheckpointStays) {
  put("dies.sh",
      "if [ \"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\" = 1 ]; then\n"
      "  (while [ ! -s c ]; do sleep 0.05; done; kill -9 $$) &\n"
      "fi\n"
      "exec \"$@\"\n");
  const Outcome outcome = train_in(
      2, "--device ddp.yaml --checkpoint c --every 1 --with max_steps=100000", "sh dies.sh");
  EXPECT_NE(outcome.status, 0);
  const Outcome rest = train("--checkpoint c --resume --with max_steps=100000 --print-config");
  EXPECT_EQ(rest.status, 0) << rest.err;
  EXPECT_GT(std::filesystem::file_size(folder() / "c"), 1000U);
}
#endif

}  // namespace
}  // namespace howard::cli
