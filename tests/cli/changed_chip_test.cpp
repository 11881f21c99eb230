// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

using nlohmann::json;

const std::string kOnePoint = "matmul_sweep --backend emulated -a shape=512 -a dispatch=eth ";

class ChangedChip : public CliFixture {
 protected:
  json results() const { return json::parse(content(folder() / "results/matmul_sweep.json")); }
};

TEST_F(ChangedChip, HasNoPublishedFigureAnywhere) {
  for (const std::string change : {"--set noc.link=29B/cycle", "--chip wormhole_b0_n150"}) {
    const Outcome outcome = run(kOnePoint + change);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "no published figures stand beside these")) << outcome.out;
    EXPECT_FALSE(contains(outcome.out, "  published")) << outcome.out;
    EXPECT_FALSE(contains(outcome.err, "rows")) << outcome.err;
    EXPECT_TRUE(results()["points"][0]["reference"].is_null());
    EXPECT_EQ(results()["context"]["published_chip"], false);
    const Outcome fidelity = run("fidelity " + change);
    EXPECT_TRUE(contains(fidelity.out, "the published rows are of the default")) << fidelity.out;
    const Outcome report = run("report results");
    EXPECT_FALSE(contains(report.out, "claims")) << report.out;
  }
  ASSERT_EQ(run(kOnePoint + "--set noc.link=28B/cycle").status, 0);
  EXPECT_FALSE(results()["points"][0]["reference"].is_null()) << "the value that it has";
}

TEST_F(ChangedChip, ThatContradictsItselfIsABadCommandLineThatNamesBoth) {
  const Outcome outcome = run(kOnePoint + "--set dram.spread=300GB/s");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  EXPECT_TRUE(
      contains(outcome.err, "dram.spread=300GB/s and dram.bandwidth=267GB/s contradict each other"))
      << outcome.err;
}

TEST_F(ChangedChip, IsNamedByTheOptionOfItsKind) {
  const Outcome chip = run(kOnePoint + "--chip tt_metal_2026_07");
  EXPECT_EQ(chip.status, 2);
  EXPECT_TRUE(contains(chip.err, "--software tt_metal_2026_07")) << chip.err;
  const Outcome software = run(kOnePoint + "--software wormhole_b0_n150");
  EXPECT_EQ(software.status, 2);
  EXPECT_TRUE(contains(software.err, "--chip wormhole_b0_n150")) << software.err;
  EXPECT_EQ(run(kOnePoint + "--chip wormhole_b0_n150 --software tt_metal_2026_07").status, 0);
}

TEST_F(ChangedChip, WhoseSendersWaitLongerIsNeverFaster) {
  const Outcome outcome =
      run("matmul_sweep --backend emulated -a shape=4096 -a dispatch=worker --set "
          "noc.multicast_flush=0cycles,1cycles,50cycles,500cycles");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json points = results()["points"];
  ASSERT_EQ(points.size(), 4U);
  std::int64_t before = 0;
  for (const json& point : points) {
    const auto time = point["metrics"]["time"]["picoseconds"].get<std::int64_t>();
    EXPECT_GE(time, before) << point["params"];
    before = time;
  }
}

TEST_F(ChangedChip, WithASlowDramOrMatrixUnitIsSlower) {
  const std::string large = "matmul_sweep --backend emulated -a shape=4096 -a dispatch=eth ";
  const auto seconds = [&](const std::string& change) {
    EXPECT_EQ(run(large + change).status, 0);
    const json metrics = results()["points"][0]["metrics"];
    EXPECT_LE(metrics["share_of_peak"]["value"].get<double>(), 1) << change;
    return metrics["time"]["value"].get<double>();
  };
  const double as_it_is = seconds("");
  EXPECT_GT(seconds("--set dram.bandwidth=1GB/s"), 50 * as_it_is);
  EXPECT_GT(seconds("--set matrix.flops_per_cycle=1count"), 500 * as_it_is);
}

}  // namespace
}  // namespace howard::cli
