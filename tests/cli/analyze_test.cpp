// SPDX-License-Identifier: Apache-2.0
//
// These tests treat `run_experiment analyze` as a contract: what a user sees of a log, good or bad.
// They run the real program.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

const std::string kOps =
    "OP CODE,OP TYPE,DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW DURATION [ns],"
    "DEVICE KERNEL DURATION [ns],OP TO OP LATENCY [ns]\n"
    "Matmul,tt_dnn_device,100000,110000,10000,10000,0\n"
    "Softmax,tt_dnn_device,130000,135000,5000,5000,20000\n"
    "Matmul,tt_dnn_device,135500,bad,10000,10000,500\n";
const std::string kEmulated = "matmul_sweep --backend emulated -a shape=512 -a dispatch=eth ";

class Analyze : public CliFixture {};

TEST_F(Analyze, AnOpsCsvIsShownByOpsAndGaps) {
  put("ops.csv", kOps);
  const Outcome outcome = run("analyze ops.csv");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "ops.csv: 2 programs")) << outcome.out;
  EXPECT_TRUE(contains(
      outcome.out, "device 0 (wormhole_b0, 1000 MHz)         2  35.00  15.00  20.00        57.1"))
      << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "20 us to 50 us     1  20.00"));
  EXPECT_TRUE(
      contains(outcome.out, "Device 0 ran 2 programs in 35.00 us and was busy for 15.00 us"));
  EXPECT_TRUE(contains(outcome.out,
                       "warning: left out 1 row: DEVICE FW END CYCLE (column 4) is not an integer, "
                       "first on line 4: 'bad'"));
}

TEST_F(Analyze, OfManyRunsTheFirstOnesAreShownAndAllAreWritten) {
  std::string runs;
  for (int i = 0; i < 25; ++i) runs += kOps;
  put("ops.csv", runs);
  const Outcome outcome = run("analyze ops.csv --json all.json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "the first 20 of 25 runs are shown; --json FILE has all"));
  EXPECT_TRUE(contains(outcome.out, "run 20 of 25: 2 programs")) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "run 21 of 25")) << outcome.out;
  EXPECT_TRUE(contains(content(folder() / "all.json"), "\"run\": \"25\""))
      << "as a point of its own";
}

TEST_F(Analyze, ALogCanComeFromStandardInput) {
  put("ops.csv", kOps);
  EXPECT_EQ(run("analyze - <ops.csv >shown #").status, 0);
  const std::string shown = content(folder() / "shown");
  EXPECT_TRUE(contains(shown, "stdin: 2 programs")) << shown;
}

TEST_F(Analyze, AResultHasNoPartToBeTaken) {
  ASSERT_EQ(run(kEmulated).status, 0);
  const Outcome outcome = run("analyze results/matmul_sweep.json --from 3");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "it is a result file; accepted: an ops_perf_results CSV"))
      << outcome.err;
}

TEST_F(Analyze, TheTraceOfARunIsReadBackWithItsCauses) {
  ASSERT_EQ(run(kEmulated + "-a sync=end --trace trace.json").status, 0);
  const Outcome outcome = run("analyze trace.json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "trace.json, matmul_sweep/emulated/shape:512x512x512"))
      << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "matmul")) << outcome.out;
}

TEST_F(Analyze, TheLogsOfARunSayTheSameAsItsTrace) {
  ASSERT_EQ(run(kEmulated + "--device-logs logs --trace trace.json").status, 0);
  const fs::path point = fs::directory_iterator(folder() / "logs" / "matmul_sweep")->path();
  const auto kernel_time = [&](const std::string& file) {
    const std::string out = run("analyze '" + file + "'").out;
    const std::size_t row = out.find("device 0");
    return out.substr(out.find(" 1  ", row), 24);
  };
  const std::string time = kernel_time("trace.json");
  EXPECT_EQ(kernel_time((point / "ops_perf_results.csv").string()), time);
  EXPECT_EQ(kernel_time((point / "profile_log_device.csv").string()), time);
  const std::string ops = content(point / "ops_perf_results.csv");
  EXPECT_TRUE(contains(ops, "\nMatmul,tt_dnn_device,")) << ops;
  EXPECT_TRUE(contains(ops, ",HiFi2,64,64,"));
  EXPECT_TRUE(contains(ops, ",1[1],1[1],512[512],512[512],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED,"));
}

TEST_F(Analyze, ResultsAreShownAgain) {
  ASSERT_EQ(run(kEmulated + "--json result.json").status, 0);
  const Outcome outcome = run("analyze result.json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "512x512x512")) << outcome.out;
}

TEST_F(Analyze, APftraceFileIsAPerfettoTrace) {
  ASSERT_EQ(run(kEmulated + "--trace trace.pftrace").status, 0);
  EXPECT_EQ(content(folder() / "trace.pftrace").front(), '\n');  // field 1, with a length
  ASSERT_EQ(run(kEmulated + "--trace trace.json").status, 0);
  const Outcome outcome = run("analyze trace.pftrace");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::string json = run("analyze trace.json").out;
  EXPECT_TRUE(contains(outcome.out, "trace.pftrace, matmul_sweep/emulated/shape:512x512x512"));
  // This is the same but for the file's name: a nanosecond does not show.
  std::string renamed = outcome.out;
  for (std::size_t at = 0; (at = renamed.find(".pftrace", at)) != std::string::npos; ++at) {
    renamed.replace(at, std::string(".pftrace").size(), ".json");
  }
  EXPECT_EQ(renamed, json);
}

TEST_F(Analyze, MarkdownGoesToAFileOrReplacesTheTables) {
  put("ops.csv", kOps);
  const Outcome both = run("analyze ops.csv --md ops.md");
  EXPECT_TRUE(contains(content(folder() / "ops.md"), "| Softmax |"));
  EXPECT_TRUE(contains(both.out, "Softmax"));
  EXPECT_TRUE(run("analyze ops.csv --md -").out.starts_with("**ops.csv: in short**"));
}

TEST_F(Analyze, WhatCanNotBeReadIsSaidAndDoesNotKeepTheOthers) {
  put("ops.csv", kOps);
  put("empty", "");
  put("text", "hello\n");
  const Outcome outcome = run("analyze empty text . missing ops.csv");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "cannot tell what empty is: the file is empty")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "cannot tell what text is: its first line is 'hello'"));
  EXPECT_TRUE(contains(outcome.err, "cannot read .: it is a folder"));
  EXPECT_TRUE(contains(outcome.err, "cannot read missing: No such file or directory"));
  EXPECT_TRUE(contains(outcome.out, "ops.csv: 2 programs"));
}

TEST_F(Analyze, APipeIsRead) {
  put("ops.csv", kOps);
  EXPECT_TRUE(contains(run("analyze <(cat ops.csv)", "", "bash").out, ": 2 programs"));
}

TEST_F(Analyze, TheEmulatorAgreesWithItsOwnLogs) {
  ASSERT_EQ(run("gpt2_full --backend emulated -a layers=1 -a batch=2 --device-logs logs").status,
            0);
  int files = 0;
  for (const fs::path& point : fs::directory_iterator(folder() / "logs" / "gpt2_full")) {
    ++files;
    const std::string file = "'" + (point / "ops_perf_results.csv").string() + "'";
    const Outcome outcome = run("analyze --compare-emulated " + file + " --json own.json");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_FALSE(contains(outcome.out, "not emulated")) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "emulated bound by"));
    const nlohmann::json json = nlohmann::json::parse(content(folder() / "own.json"));
    EXPECT_GT(json["points"].size(), 30U);
    for (const nlohmann::json& call : json["points"]) {
      const double emulated = call["metrics"]["emulated"]["value"];
      for (const double measured : call["metrics"]["measured"]["samples"]) {
        EXPECT_LE(std::abs(emulated - measured), 1.001e-9) << call["parameters"];
      }
    }
  }
  EXPECT_EQ(files, 3);
}

TEST_F(Analyze, BottlenecksOfAPointStandBehindItsResults) {
  const Outcome outcome =
      run("gpt2_full --backend emulated -a engine=ttml -a layers=1 -a batch=2 "
          "-a variant=as_published --bottlenecks");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* const part :
       {"dispatch:worker: time by op", "bound by", "cores in use", "attainable",
        "kernel time by the stage that limits the kernel", "critical path", "the path is"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part;
  }
  const Outcome host =
      run("matmul_sweep --backend host -a shape=256 -a dtype=float32 --quick "
          "--bottlenecks");
  EXPECT_EQ(host.status, 0) << host.err;
  EXPECT_TRUE(contains(host.out, "time by op")) << host.out;
  EXPECT_FALSE(contains(host.out, "unknown")) << host.out;
}

TEST_F(Analyze, AComparisonNamesWhatItCouldNotEmulate) {
  put("ops.csv", kOps);
  const Outcome outcome = run("analyze ops.csv --compare-emulated --csv ops_errors.csv");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "no output")) << outcome.out;
  EXPECT_TRUE(contains(content(folder() / "ops_errors.csv"), "compare_emulated,emulated,ops.csv"));
}

TEST_F(Analyze, OnlyOpsCsvsAreComparedWithTheEmulator) {
  ASSERT_EQ(run(kEmulated + "--trace trace.json").status, 0);
  const Outcome outcome = run("analyze trace.json --compare-emulated");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "a Chrome trace does not say what its ops computed"))
      << outcome.err;
  EXPECT_EQ(run("analyze trace.json --json -").status, 0) << "which needs no emulator";
  EXPECT_TRUE(
      contains(run("analyze trace.json --compare-emulated --set tiles.fpo=1ns").err, "tiles.fpu"));
}

TEST_F(Analyze, AHeaderAloneIsAnsweredWithWhatToDo) {
  put("header.csv", "OP CODE,DEVICE FW START CYCLE,DEVICE KERNEL DURATION [ns]\n");
  for (const char* const command : {"analyze header.csv", "explain header.csv"}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(contains(outcome.err, "a row for each program")) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "try the run again")) << outcome.err;
  }
}

TEST_F(Analyze, UnknownOptionsAndNoFileAreUsageErrors) {
  EXPECT_EQ(run("analyze").status, 2);
  const Outcome outcome = run("analyze ops.csv --tpo 3");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(contains(outcome.err, "did you mean --top?")) << outcome.err;
  EXPECT_TRUE(contains(run("analyze --help").out, "run_experiment analyze FILE..."));
}

}  // namespace
}  // namespace howard::cli
