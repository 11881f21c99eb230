// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class Blackhole : public CliFixture {
 protected:
  json points(const std::string& options) const {
    const Outcome outcome =
        run("matmul_sweep --backend emulated -a shape=512 -a dispatch=worker " + options);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(content(folder() / "results/matmul_sweep.json"))["points"];
  }
  static std::int64_t time(const json& point) {
    return point["metrics"]["time"]["picoseconds"].get<std::int64_t>();
  }
  /// Writes the log of a few ops on a chip, and says where.
  std::string log_on(const std::string& chip) const {
    const Outcome made =
        run("op_list --backend emulated -a ops=64x64/gelu -a engine=dynamic --chip " + chip +
            " --device-logs " + chip);
    EXPECT_EQ(made.status, 0) << made.err;
    for (const auto& entry : fs::recursive_directory_iterator(folder() / chip)) {
      if (entry.path().filename() == "ops_perf_results.csv") return entry.path().string();
    }
    return "";
  }
};

TEST_F(Blackhole, SeveralChipsAreAnAxisWhosePointsAreThoseOfEachAlone) {
  const json both = points("--chip wormhole_b0_n300,blackhole_p150");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0]["params"]["chip"], "wormhole_b0_n300");
  EXPECT_EQ(both[1]["params"]["chip"], "blackhole_p150");
  EXPECT_EQ(time(both[0]), time(points("")[0]));
  EXPECT_EQ(time(both[1]), time(points("--chip blackhole_p150")[0]));
  EXPECT_NE(time(both[0]), time(both[1]));
}

TEST_F(Blackhole, SeveralChipsAreRefusedWhereOneIsNeeded) {
  const Outcome tune = run("tune -a m=64 -a k=64 -a n=64 --chip wormhole_b0_n300,blackhole_p150");
  EXPECT_EQ(tune.status, 2);
  EXPECT_TRUE(contains(tune.err, "--chip gives several chips")) << tune.err;
  const Outcome twice = run("matmul_sweep --chip blackhole_p150,blackhole_p150");
  EXPECT_EQ(twice.status, 2);
  EXPECT_TRUE(contains(twice.err, "blackhole_p150 twice")) << twice.err;
}

TEST_F(Blackhole, EthPointsAreLeftOutWhereABoardHasNoCoresForIt) {
  const Outcome outcome = run(
      "matmul_sweep --backend emulated -a shape=512 -a dispatch=worker,eth --chip blackhole_p100a");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "no ethernet cores that could dispatch")) << outcome.out;
}

TEST_F(Blackhole, ListShowsChipsWithTheirCoresClockAndDram) {
  EXPECT_TRUE(contains(run("list blackhole_p150_120").out,
                       "11x10 of 12x10 cores compute, 1350 MHz, 32 GiB of DRAM at 500 GB/s"));
  const json chips = json::parse(run("list --json -").out)["chips"];
  ASSERT_FALSE(chips.empty());
  EXPECT_EQ(chips[0]["name"], "wormhole_b0_n300");
  EXPECT_EQ(chips[0]["columns"], 8);
}

TEST_F(Blackhole, ALogIsOfItsOwnChipUnlessAnotherIsGiven) {
  const std::string log = log_on("blackhole_p150");
  const Outcome advice = run("analyze '" + log + "'");
  EXPECT_EQ(advice.status, 0) << advice.err;
  EXPECT_FALSE(contains(advice.out, "another chip")) << advice.out;
  const Outcome compared = run("analyze --compare-emulated '" + log + "' --json own.json");
  ASSERT_EQ(compared.status, 0) << compared.err;
  const json result = json::parse(content(folder() / "own.json"));
  EXPECT_EQ(result["context"]["chip_profile"], "blackhole_p150");
  EXPECT_EQ(run("explain '" + log + "'").status, 0);
  const Outcome other = run("analyze --chip wormhole_b0_n150 '" + log + "'");
  EXPECT_NE(other.status, 0);
  EXPECT_TRUE(contains(other.err, "the log is of blackhole, and the chip is wormhole_b0"))
      << other.err;
}

TEST_F(Blackhole, FidelityListsTheMeasuredRowsOfTheChip) {
  const Outcome outcome = run("fidelity --chip blackhole_p150_120 --json fidelity.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json all = json::parse(content(folder() / "fidelity.json"))["points"];
  EXPECT_GT(all.size(), 50U);
  EXPECT_TRUE(contains(all[0]["params"]["subject"].get<std::string>(), "products_110"));
}

}  // namespace
}  // namespace howard::cli
