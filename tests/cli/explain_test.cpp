// SPDX-License-Identifier: Apache-2.0
//
// These tests treat `run_experiment explain` as a contract: what a user sees and what a script
// reads. They run the real program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;

class Explain : public CliFixture {};

TEST_F(Explain, ShapesOfAProductAreEnough) {
  const Outcome outcome = run("explain -a m=128 -a k=64 -a n=96");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("dispatch-bound: for ")) << outcome.out;
  for (const char* const part :
       {"largest costs", "waiting: finish", "matmul_sweep, shape 128x64x96", "no finish after each",
        "-a trace=yes", "does not help", "not tried: fusing: it is one op"}) {
    EXPECT_TRUE(contains(outcome.out, part)) << part << "\n" << outcome.out;
  }
  EXPECT_TRUE(contains(outcome.err, "wrote results/explain.{json,csv,md,")) << outcome.err;
  const std::string verdict = outcome.out.substr(0, outcome.out.find('\n'));
  EXPECT_TRUE(run("explain matmul -a shape=128x64x96").out.starts_with(verdict)) << verdict;
}

TEST_F(Explain, ItsAnswerFitsATerminalOf100Columns) {
  for (const char* const what :
       {"-a m=1024 -a k=512 -a n=512", "mlp", "two_queues", "ops -a ops=512x512/linear:64/relu"}) {
    const Outcome outcome = run(std::string("explain ") + what);
    EXPECT_TRUE(contains(outcome.out, "largest costs")) << what << ": " << outcome.err;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      const bool is_sentence = contains(line, ": ") && !contains(line, "  ");
      // A matmul configuration is one long word to copy; on a terminal it is wrapped.
      if (contains(line, "-a config=") || line.starts_with("-----")) continue;
      EXPECT_LE(is_sentence ? 0 : line.size(), 100U) << line;
    }
  }
}

TEST_F(Explain, TheSameQuestionHasTheSameBytesForAnAnswer) {
  ASSERT_EQ(run("explain mlp --results one").status, 0);
  ASSERT_EQ(run("explain mlp --results two").status, 0);
  EXPECT_EQ(content(folder() / "one/explain.json"), content(folder() / "two/explain.json"));
  EXPECT_EQ(content(folder() / "one/explain.md"), content(folder() / "two/explain.md"));
}

TEST_F(Explain, JsonOnStandardOutputHasTheFigureOfTheRunItself) {
  const Outcome outcome = run("explain mlp -a engine=static --json -");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "dispatch-bound: the host")) << outcome.err;
  const json points = json::parse(outcome.out)["points"];
  const auto trace = std::ranges::find_if(
      points, [](const json& point) { return point["params"]["engine"] == "traced"; });
  ASSERT_NE(trace, points.end());
  ASSERT_EQ(run("mlp_engines --backend emulated -a engine=traced -a variant=corrected "
                "-a dispatch=worker --json run.json")
                .status,
            0);
  const json run_itself = json::parse(content(folder() / "run.json"))["points"][0];
  EXPECT_EQ((*trace)["metrics"]["time"]["picoseconds"],
            run_itself["metrics"]["time"]["picoseconds"]);
}

TEST_F(Explain, HowIsInTheWordsOfTheQuestion) {
  const Outcome outcome = run("explain -a m=4096 -a k=4096 -a n=4096");
  EXPECT_TRUE(contains(outcome.out, " -a m=4288")) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "-a shape=")) << outcome.out;
  EXPECT_TRUE(contains(run("explain matmul -a shape=4096").out, "-a shape=4288x4096x4096"));
}

TEST_F(Explain, ItsResultStandsAmongThoseOfExperiments) {
  ASSERT_EQ(run("explain two_queues").status, 0);
  EXPECT_TRUE(contains(run("report results").out, "layout parallel_2cq"));
  EXPECT_EQ(run("analyze results/explain.json").status, 0);
}

TEST_F(Explain, WhatItCanNotExplainIsSaidOnOneLine) {
  const auto refused = [&](const std::string& arguments, int status, const std::string& why) {
    const Outcome outcome = run("explain " + arguments);
    EXPECT_EQ(outcome.status, status) << arguments;
    EXPECT_TRUE(contains(outcome.err, why)) << arguments << ": " << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
  };
  refused("", 2, "nothing to explain; try run_experiment explain matmul");
  refused("mlpp", 2, "try mlp");
  refused("mlp gpt2", 2, "one workload or experiment");
  refused("-a m=12", 2, "has three sizes");
  refused("-a m=4096 -a k=4096 -a n=4096 -a shape=4288x4096x4096", 2,
          "given twice, by shape and by");
  refused("-a m=8 -a k=8 -a n=8 --json a --csv a", 2, "--json and --csv; accepted: one of them");
  refused("matmul -a shape=64 -a shape=96", 2, "cannot set axis shape: it is given twice");
  refused("-a m=12 -a k=0 -a n=5", 2, "'12x0x5'");
  refused("mlp -a batch=1,2", 2, "takes one point");
  refused("mlp -a dimm=3", 2, "try -a dim=");
  refused("mlp -a batch=-3", 2, "'-3'; accepted: a whole number");
  refused("ops -a ops=64x64/reluu", 2, "try relu");
  refused("dispatch_gaps", 2, "times nothing on the emulator");
  refused("gradient_check", 2, "times nothing on the emulator");
  refused("mlp -a engine=torch", 1, "differ in the C++ engines");
  refused("mlp -a batch=1000000 -a dim=100000", 1, "cannot allocate");
  refused("mlp --set host.op_cal=1us", 2, "host.op_call");
}

TEST_F(Explain, AnotherConstantIsAnotherAnswer) {
  const Outcome outcome = run("explain mlp --set host.op_call=1us");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(contains(outcome.out, "sets the pace")) << outcome.out;
}

}  // namespace
}  // namespace howard::cli
