// SPDX-License-Identifier: Apache-2.0
//
// `run_experiment tune OBJECT` as a contract: each kind of object, and each form of the answer.
// Runs the real program.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;

constexpr const char* kStep =
    "import ttnn\n"
    "import LIBRARY as products\n"
    "device = ttnn.open_device(device_id=0)\n"
    "x = ttnn.ones([1024, 1024], layout=ttnn.TILE_LAYOUT, device=device)\n"
    "w = ttnn.ones([1024, 1024], layout=ttnn.TILE_LAYOUT, device=device)\n"
    "for step in range(3):\n"
    "    y = products.linear(x, w, activation='relu')\n"
    "ttnn.synchronize_device(device)\n"
    "ttnn.close_device(device)\n";

constexpr const char* kOps =
    R"({"schema": "howard.ops/1", "tensors": {"x": "1024x1024", "y": "1024x1024 empty"},)"
    R"( "steps": [{"repeat": 5, "steps": [{"op": "matmul", "in": ["x", "x"], "out": "y"}]}]})";

class TuneWork : public CliFixture {
 protected:
  /// Puts the script, whose products are of a library.
  void put_script(const std::string& file, const std::string& library) const {
    std::string text = kStep;
    text.replace(text.find("LIBRARY"), 7, library);
    put(file, text);
  }
};

TEST_F(TuneWork, AScriptHasATableOfItsProductsAndTheirConfigurations) {
  put_script("step.py", "ttnn");
  const Outcome outcome = run("tune step.py");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* const part :
       {"tune step.py: ", "with the configurations below", "linear 1024x1024x1024", "of all",
        "distinct calls: 1; left out: 0", "best configurations", ":in0_block_w="}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
}

TEST_F(TuneWork, AScriptThatTakesThePythonFileTakesThePredictedTime) {
  put_script("step.py", "ttnn");
  const Outcome outcome = run("tune step.py -o tuned.py -o tuned.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json predicted = json::parse(content(folder() / "tuned.json"));
  ASSERT_EQ(predicted["entries"].size(), 1U) << content(folder() / "tuned.json");
  put_script("faster.py", "tuned");
  ASSERT_EQ(run("python --no-what-if faster.py").status, 0);
  const Outcome again =
      run("workload -a file=results/faster.workload.json -a first_calls=known --format json -o -");
  ASSERT_EQ(again.status, 0) << again.err;
  const json point = json::parse(again.out)["points"][0];
  EXPECT_EQ(point["metrics"]["time"]["picoseconds"], predicted["tuned_picoseconds"]);
  EXPECT_LT(predicted["tuned_picoseconds"], predicted["picoseconds"]);
}

TEST_F(TuneWork, AttentionTakesItsChunksFromThePythonFile) {
  const auto script = [](const std::string& library) {
    return "import ttnn\n"
           "import " +
           library +
           " as functions\n"
           "device = ttnn.open_device(device_id=0)\n"
           "q = ttnn.ones([1, 8, 1024, 64], layout=ttnn.TILE_LAYOUT, device=device)\n"
           "y = functions.scaled_dot_product_attention(q, q, q, is_causal=True)\n"
           "ttnn.synchronize_device(device)\n"
           "ttnn.close_device(device)\n";
  };
  put("attend.py", script("ttnn.transformer"));
  const Outcome outcome = run("tune attend.py -o tuned.py -o tuned.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json predicted = json::parse(content(folder() / "tuned.json"));
  ASSERT_EQ(predicted["entries"].size(), 1U) << outcome.out;
  EXPECT_TRUE(contains(content(folder() / "tuned.py"), "q_chunk_size=")) << outcome.out;
  put("faster.py", script("tuned"));
  ASSERT_EQ(run("python --no-what-if faster.py").status, 0);
  const Outcome again =
      run("workload -a file=results/faster.workload.json -a first_calls=known --format json -o -");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["points"][0]["metrics"]["time"]["picoseconds"],
            predicted["tuned_picoseconds"]);
}

TEST_F(TuneWork, AWorkloadAndALogOfItHaveTheSameProduct) {
  put("ops.json", kOps);
  const Outcome own = run("tune ops.json -o ops.tuned.json -o ops.tuned.mlir");
  ASSERT_EQ(own.status, 0) << own.err;
  const json of_list = json::parse(content(folder() / "ops.tuned.json"))["entries"].at(0);
  EXPECT_EQ(of_list["calls"], 5);
  EXPECT_TRUE(contains(content(folder() / "ops.tuned.mlir"),
                       "matmul_program_config = #ttnn.matmul_multi_core_reuse_multi_cast"));
  ASSERT_EQ(run("workload -a file=ops.json --device-logs logs").status, 0);
  std::string log;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder() / "logs")) {
    if (entry.path().filename() == "ops_perf_results.csv") log = entry.path().string();
  }
  const Outcome logged = run("tune '" + log + "' -o log.tuned.json");
  ASSERT_EQ(logged.status, 0) << logged.err;
  const json of_log = json::parse(content(folder() / "log.tuned.json"))["entries"].at(0);
  EXPECT_EQ(of_log["recipe"], of_list["recipe"]);
  EXPECT_EQ(of_log["prediction"]["candidate_ns"], of_list["prediction"]["candidate_ns"]);
  EXPECT_TRUE(contains(logged.out, "are emulated")) << logged.out;
}

TEST_F(TuneWork, AModelAndAnExperimentAreTuned) {
  const Outcome model = run("tune llama-3.2-1b -a machine=n150 -a mode=performance");
  ASSERT_EQ(model.status, 0) << model.err;
  EXPECT_TRUE(contains(model.err, "llama-3.2-1b is a model: run_experiment tune inference"))
      << model.err;
  EXPECT_TRUE(contains(model.out, "tune inference model=llama-3.2-1b")) << model.out;
  const Outcome list = run("tune ops -a ops=512x512/matmul:2048/gelu -a engine=dynamic");
  ASSERT_EQ(list.status, 0) << list.err;
  EXPECT_TRUE(contains(list.out, "tune ops ops=512x512")) << list.out;
}

TEST_F(TuneWork, WhatHasNothingToTuneIsRefusedInWords) {
  put_training();
  put("gelu.json", R"({"schema": "howard.ops/1", "tensors": {"x": "64x64"},)"
                   R"( "steps": [{"op": "gelu", "in": "x", "out": "x"}]})");
  put("broken.py", "import ttnn\nraise ValueError('no')\n");
  put("plain.py", "print(1)\n");
  const auto complains = [&](const std::string& arguments, int status, const char* words) {
    const Outcome outcome = run("tune " + arguments);
    EXPECT_EQ(outcome.status, status) << arguments << outcome.err;
    EXPECT_TRUE(contains(outcome.err, words)) << arguments << "\n" << outcome.err;
  };
  complains("my.yaml", 2, "run_experiment fit -c my.yaml");
  complains("gelu.json", 1, "none of its calls has a configuration");
  complains("broken.py", 1, "broken.py");
  complains("plain.py", 1, "it opened no chip of ttnn");
  complains("missing.py", 2, "missing.py");
  complains("gelu.json ops.json", 2, "one object");
  complains("gelu.json --top 3", 2, "--top");
  complains("-a m=32 -a k=32 -a n=32 --from a", 2, "--from");
  complains("gelu.json -o picture.svg", 2, "of a product");
  complains("gelu.json --input x=1", 2, "ONNX");
}

}  // namespace
}  // namespace howard::cli
