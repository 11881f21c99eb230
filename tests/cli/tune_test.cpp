// SPDX-License-Identifier: Apache-2.0
//
// `run_experiment tune` as a contract: what a user sees and what a script reads. Runs the real
// program.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;

class Tune : public CliFixture {};

constexpr const char* kProduct = "tune -a m=512 -a k=384 -a n=1024";

TEST_F(Tune, ShowsTheDefaultBesideTheBestAndPythonToPaste) {
  const Outcome outcome = run(std::string(kProduct) + " --picture-format svg");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* const part :
       {"tune: A[512,384] B[384,1024], bfloat16", "ttnn's own choice takes", "default", "10  ",
        "bound by", "L1", "program_config = ttnn.MatmulMultiCore", "compute_with_storage_grid_size",
        "compute_kernel_config = ttnn.WormholeComputeKernelConfig", "output = ttnn.matmul("}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
  for (const char* const file : {"tune.json", "tune.csv", "tune.md", "tune.py", "tune.dat"}) {
    EXPECT_TRUE(std::filesystem::exists(folder() / "results" / file)) << file;
  }
  EXPECT_TRUE(contains(content(folder() / "results/tune.dat"), "ttnn's own choice"));
}

TEST_F(Tune, TheConfigurationOfItsJsonIsOneThatMatmulSweepRunsInThatTime) {
  const Outcome outcome = run(std::string(kProduct) + " --top 2 --json -");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json points = json::parse(outcome.out)["points"];
  ASSERT_EQ(points.size(), 3U);
  const std::string config = points[1]["details"]["config"];
  const Outcome sweep =
      run("matmul_sweep --backend emulated -a shape=512x384x1024 -a "
          "dispatch=worker -a fidelity=HiFi2 --json - -a config=" +
          config);
  ASSERT_EQ(sweep.status, 0) << sweep.err;
  const json point = json::parse(sweep.out)["points"][0];
  EXPECT_EQ(point["metrics"]["kernel_time"]["picoseconds"],
            points[1]["metrics"]["time"]["picoseconds"]);
  EXPECT_EQ(point["metrics"]["time"]["picoseconds"],
            points[1]["metrics"]["call_time"]["picoseconds"]);
}

TEST_F(Tune, TheAnswerIsTheSameForAnyNumberOfThreads) {
  ASSERT_EQ(run(std::string(kProduct) + " --threads 1 --results one").status, 0);
  ASSERT_EQ(run(std::string(kProduct) + " --threads 3 --results three").status, 0);
  EXPECT_EQ(content(folder() / "one/tune.csv"), content(folder() / "three/tune.csv"));
  EXPECT_EQ(content(folder() / "one/tune.py"), content(folder() / "three/tune.py"));
  EXPECT_NE(content(folder() / "one/tune.py"), "");
}

TEST_F(Tune, SeveralProductsHaveATableEach) {
  const Outcome outcome = run("tune -a m=32,64 -a k=128 -a n=128 --top 1 --picture-format svg");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "A[32,128] B[128,128]")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "A[64,128] B[128,128]")) << outcome.out;
  EXPECT_TRUE(std::filesystem::exists(folder() / "results/tune_2.dat"));
  const Outcome report = run("report results");
  EXPECT_EQ(report.status, 0) << report.err;
  EXPECT_TRUE(contains(report.out, "tune")) << report.out;
}

TEST_F(Tune, WhatItCannotTuneIsABadCommandLineOrAnErrorInWords) {
  const auto complains = [&](const std::string& arguments, int status, const char* words) {
    const Outcome outcome = run("tune " + arguments);
    EXPECT_EQ(outcome.status, status) << arguments << outcome.err;
    EXPECT_TRUE(contains(outcome.err, words)) << outcome.err;
  };
  complains("", 2, "m is not given");
  complains("-a m=32 -a k=32", 2, "n is not given");
  complains("-a m=32 -a k=32 -a n=32 -a activaton=relu", 2, "activation");
  complains("-a m=32 -a k=32 -a n=32 --top 0", 2, "--top");
  complains("-a m=1048576 -a k=1048576 -a n=32", 1, "DRAM");
  complains("-a m=8192 -a k=8192 -a n=32 -a memory_a=l1", 1, "L1");
}

}  // namespace
}  // namespace howard::cli
