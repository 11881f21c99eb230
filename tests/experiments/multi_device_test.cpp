// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "experiments/meshes/chip_mesh.h"
#include "tests/error_of.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::PointResult;

TEST(ChipMesh, ReadsSetsOfChipsAndRefusesOthersOfThisBox) {
  EXPECT_EQ(kDevices.parse("4+0"), (ChipSet{0, 4}));
  for (const auto& [bad, part] : {std::pair("8", "chip 8, not on this box"),
                                  {"0+-1", "chip -1"},
                                  {"0+0", "chip 0 twice"},
                                  {"0+", "no id"},
                                  {"zero", "no id"},
                                  {"", "no id"}}) {
    const std::string message = error_of([&] { kDevices.parse(bad); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

TEST(ChipMesh, IsTwoSquaresOfChipsWithTheRemoteOnesBelow) {
  EXPECT_EQ(split_by_mesh({0, 1, 2, 5, 7}), (std::vector<ChipSet>{{0, 1, 5}, {2, 7}}));
  EXPECT_EQ(board_of(6), 2);
  EXPECT_TRUE(is_remote(4));
  EXPECT_FALSE(is_remote(3));
  for (const ChipSet& linked : {ChipSet{0, 1}, ChipSet{0, 4}, ChipSet{4, 5}, ChipSet{3, 7}}) {
    EXPECT_EQ(line_hops(linked), 1);
  }
  for (const ChipSet& diagonal : {ChipSet{0, 5}, ChipSet{1, 4}, ChipSet{2, 7}}) {
    EXPECT_EQ(line_hops(diagonal), 2);
  }
  EXPECT_EQ(line_hops({0, 1, 4, 5}), 3);
}

TEST(AllReduce, PublishedSumsAreWithin8Percent) {
  const auto points = run_emulated(*make_experiment("all_reduce", built_in_box()));
  EXPECT_EQ(published_without_point("all_reduce", points), "");
  ASSERT_EQ(points.size(), 6U);
  for (const PointResult& point : points) {
    ASSERT_TRUE(point.relative_error()) << point.id();
    EXPECT_LT(std::abs(*point.relative_error()), 0.08) << point.id();
  }
}

TEST(AllReduce, OneChipHasNothingToSum) {
  const auto points =
      run_emulated(*make_experiment("all_reduce", built_in_box()), {{"devices", {"3"}}});
  EXPECT_EQ(points.front().skipped, "one chip has nothing to sum");
  EXPECT_FALSE(points.front().failed);
}

class MultiDevice : public ::testing::Test {
 protected:
  static PointResult point(const std::string& mode, const std::string& devices,
                           std::vector<harness::AxisOverride> more = {}) {
    more.push_back({"mode", {mode}});
    more.push_back({"devices", {devices}});
    if (std::ranges::find(more, "workload", &harness::AxisOverride::axis) == more.end()) {
      more.push_back({"workload", {"mlp"}});
    }
    const auto points = run_emulated(*make_experiment("multi_device", built_in_box()), more);
    EXPECT_EQ(points.size(), 1U);
    return points.front();
  }
  static double metric(const PointResult& point, const std::string& name) {
    const harness::Metric* const found = point.find_metric(name);
    EXPECT_NE(found, nullptr) << name << ": " << point.skipped.value_or("");
    return found == nullptr ? 0 : found->value;
  }
  static double efficiency(const std::string& mode, const std::string& devices,
                           std::vector<harness::AxisOverride> more = {}) {
    return metric(point(mode, devices, std::move(more)), "efficiency");
  }
};

TEST_F(MultiDevice, IndependentChipsOnPcieLoseNothing) {
  EXPECT_EQ(efficiency("independent", "0"), 1);
  EXPECT_EQ(efficiency("independent", "0+1+2+3"), 1);
  EXPECT_EQ(metric(point("independent", "0+3"), "exchange_time"), 0);
}

TEST_F(MultiDevice, OneChipIsOneChipInAnyMode) {
  for (const char* const mode : {"independent", "weak", "strong"}) {
    EXPECT_EQ(efficiency(mode, "2"), 1) << mode;
  }
}

TEST_F(MultiDevice, ARemoteChipIsSlowerThanOneOnPcie) {
  EXPECT_GT(metric(point("independent", "4"), "time"), metric(point("independent", "0"), "time"));
  EXPECT_LT(efficiency("independent", "0+4"), 1);
}

TEST_F(MultiDevice, DataParallelChipsNeverReachTheRateOfAsManyAlone) {
  for (const char* const mode : {"weak", "strong"}) {
    double before = 1;
    for (const char* const devices : {"0+1", "0+1+4+5", "0+1+2+3+4+5+6+7"}) {
      const double now = efficiency(mode, devices);
      EXPECT_LT(now, before) << mode << " " << devices;
      EXPECT_GT(now, 0);
      before = now;
    }
  }
  EXPECT_GT(efficiency("weak", "0+1"), efficiency("strong", "0+1"))
      << "as many bytes, half the work";
}

TEST_F(MultiDevice, MoreBytesForTheSameWorkAreLessEfficient) {
  // Half the rows have the same weights, and so the same bytes for half the work.
  EXPECT_LT(efficiency("weak", "0+1", {{"batch", {"512"}}}),
            efficiency("weak", "0+1", {{"batch", {"4096"}}}));
  EXPECT_GT(metric(point("weak", "0+1", {{"dim", {"1024"}}}), "exchange_time"),
            metric(point("weak", "0+1"), "exchange_time"));
}

TEST_F(MultiDevice, SumsBesideTheBackwardPassCostNoMoreThanBehindIt) {
  const double behind = metric(point("weak", "0+1"), "exchange_time");
  const double beside = metric(point("weak", "0+1", {{"overlap", {"backward"}}}), "exchange_time");
  EXPECT_LT(beside, behind);
  EXPECT_GT(beside, 0) << "the last gradient has nothing to hide behind";
}

TEST_F(MultiDevice, ALinkBeatsAWayOverAnotherChipAndThatTheHost) {
  const double linked = metric(point("weak", "0+1"), "exchange_time");
  const double diagonal = metric(point("weak", "0+5"), "exchange_time");
  const double host = metric(point("weak", "0+2"), "exchange_time");
  EXPECT_LT(linked, diagonal);
  EXPECT_LT(diagonal, host);
}

TEST_F(MultiDevice, SaysWhatIsNotKnown) {
  const PointResult far = point("weak", "0+2+6");
  const std::string& basis = *far.find_detail("basis");
  EXPECT_NE(basis.find("additions are unknown"), std::string::npos) << basis;
  EXPECT_NE(basis.find("tunnel costs a program is unknown"), std::string::npos) << basis;
  EXPECT_EQ(point("weak", "0+1").find_detail("basis")->find("unknown"), std::string::npos);
}

TEST_F(MultiDevice, ABatchThatCanNotBeDividedIsSkippedWithTheReason) {
  const PointResult skipped = point("strong", "0+1+4");
  EXPECT_FALSE(skipped.failed);
  EXPECT_EQ(skipped.skipped, "a batch of 1024 cannot be divided by 3 chips");
}

}  // namespace
}  // namespace howard::experiments
