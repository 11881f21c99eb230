// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;

class DesignSpace : public CliFixture {
 protected:
  json points(const std::string& settings) const {
    const Outcome outcome =
        run("matmul_sweep --backend emulated -a shape=512 -a dispatch=eth " + settings);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(content(folder() / "results/matmul_sweep.json"))["points"];
  }
  static std::int64_t time(const json& point) {
    return point["metrics"]["time"]["picoseconds"].get<std::int64_t>();
  }
};

TEST_F(DesignSpace, EveryValueOfAConstantIsThePointOfASettingOfItsOwn) {
  const json swept =
      points("--set host.finish=10..20:5us --set matmul.start=1300cycles,2300cycles");
  ASSERT_EQ(swept.size(), 6U);
  EXPECT_EQ(swept[0]["params"]["host.finish"], "10us");
  EXPECT_EQ(swept[1]["params"]["matmul.start"], "2300cycles");
  EXPECT_EQ(swept[5]["params"]["host.finish"], "20us");
  EXPECT_EQ(time(swept[3]),
            time(points("--set host.finish=15us --set matmul.start=2300cycles")[0]));
  EXPECT_EQ(time(swept[4]) - time(swept[0]), 10'000'000) << "10 us of a finish";
  EXPECT_GT(time(swept[1]), time(swept[0])) << "kernels start later";
}

TEST_F(DesignSpace, ValuesThatContradictEachOtherAreSkippedWithBoth) {
  const json swept = points("--set tensix.rows=8count,9count --set grid.eth.rows=8count,9count");
  ASSERT_EQ(swept.size(), 4U);
  EXPECT_EQ(swept[1]["skipped"],
            "grid.eth.rows=9count and tensix.rows=8count contradict each other");
  for (const std::size_t other : {0U, 2U, 3U}) EXPECT_TRUE(swept[other]["skipped"].is_null());
}

TEST_F(DesignSpace, NoValueOfAConstantHasAPublishedFigure) {
  const json swept = points("--set host.finish=38.7us,40us");
  EXPECT_GE(swept.size(), 2U);
  for (const json& point : swept) EXPECT_TRUE(point["reference"].is_null());
}

TEST_F(DesignSpace, StepsThatBinaryNumbersMissReachTheLastValue) {
  const json swept = points("--set host.finish=0.1..0.3:0.1us");
  ASSERT_EQ(swept.size(), 3U);
  EXPECT_EQ(swept[2]["params"]["host.finish"], "0.3us");
}

TEST_F(DesignSpace, ALargeSweepPrintsWhatItFoundAndASampleAndKeepsAllInItsFiles) {
  const std::string sweep =
      "matmul_sweep --backend emulated -a shape=512 -a dispatch=eth"
      " --set host.op_call=1..50:1us --set dispatch.go_core=1cycles,50cycles";
  const Outcome some = run(sweep);
  EXPECT_EQ(some.status, 0) << some.err;
  EXPECT_LT(std::ranges::count(some.out, '\n'), 110) << some.out;
  for (const char* part : {"60 of 100 rows: first the fastest, then a sample",
                           "the shortest and the longest time of 100 points",
                           "the elasticity of the time to each constant"}) {
    EXPECT_TRUE(contains(some.out, part)) << part << "\n" << some.out;
  }
  EXPECT_EQ(json::parse(content(folder() / "results/matmul_sweep.json"))["points"].size(), 100U);
  const std::string table = content(folder() / "results/matmul_sweep.csv");
  EXPECT_GT(std::ranges::count(table, '\n'), 500) << "a line for each metric of each point";
  EXPECT_TRUE(contains(content(folder() / "results/matmul_sweep.md"), "60 of 100 rows"));
  const Outcome all = run(sweep + " --all-rows");
  EXPECT_FALSE(contains(all.out, " of 100 rows"));
  EXPECT_GE(std::ranges::count(all.out, '\n'), 100);
}

TEST_F(DesignSpace, BadRangesAreOneLineBeforeAnythingRuns) {
  const std::pair<std::string, std::string> cases[] = {
      {"host.finish=20..10:1us", "rising"},
      {"host.finish=1..2:0us", "rising"},
      {"host.finish=1..2", "NAME=FIRST..LAST:STEPUNIT"},
      {"host.finish=1..2:1", "NAME=FIRST..LAST:STEPUNIT"},
      {"host.finish=1us,", "a number and its unit"},
      {"host.finish=1us,1ms", "one unit for all"},
      {"host.finish=1..2:1GB/s", "a time in"},
      {"host.finish=0..9:0.000001us", "a million"},
      {"host.finsih=1..2:1us", "host.finish=..."},
      {"host.finish=1us,2us --set host.finish=3us,4us", "each constant once"}};
  for (const auto& [setting, part] : cases) {
    const Outcome outcome = run("matmul_sweep --backend emulated --set " + setting);
    EXPECT_EQ(outcome.status, 2) << setting;
    EXPECT_TRUE(contains(outcome.err, part)) << setting << ": " << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder() / "results")) << setting;
  }
  const Outcome tool = run("calibrate --set host.finish=1us,2us");
  EXPECT_EQ(tool.status, 2);
  EXPECT_TRUE(contains(tool.err, "several values")) << tool.err;
}

TEST_F(DesignSpace, ManyProcessesOfOneRunThatCanNotSeeEachOtherAreRefused) {
  const Outcome outcome = run("matmul_sweep --quick", "SLURM_STEP_NUM_TASKS=3");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "3 processes were started")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "each would run everything")) << outcome.err;
}

}  // namespace
}  // namespace howard::cli
