// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/matmul/way_choice.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace howard::host {
namespace {

constexpr ProductWay kFixed{.cut = ProductWay::Cut::parts, .pads = false};
constexpr ProductWay kGaps{.cut = ProductWay::Cut::parts, .pads = true};
constexpr ProductWay kTwo{.cut = ProductWay::Cut::two, .pads = false};
constexpr ProductWay kOne{.cut = ProductWay::Cut::one, .pads = false};
constexpr std::array kWays{kFixed, kGaps, kTwo, kOne};

/// Chooses by times that a test gives: in milliseconds for each way when nothing disturbs, and by
/// how much a run of a way takes longer.
struct Timings {
  std::array<double, kWays.size()> undisturbed;
  /// Given the index of the way, and how often it has run before.
  std::function<double(std::size_t way, int run)> slower = [](std::size_t, int) { return 1.0; };

  std::array<int, kWays.size()> runs{};

  std::optional<ProductWay> choose() {
    return choose_way(kWays, kFixed, [this](std::size_t way) {
      return undisturbed.at(way) * slower(way, runs.at(way)++) / 1000;
    });
  }
};

TEST(ChooseWay, TakesTheFastestIfItGainsEnoughOnTheFixedOne) {
  EXPECT_EQ(Timings({10, 9.6, 11, 12}).choose(), kGaps);
  EXPECT_EQ(Timings({10, 9.8, 11, 12}).choose(), kFixed);
  // Larger blocks must gain more.
  EXPECT_EQ(Timings({10, 10, 9.6, 12}).choose(), kFixed);
  EXPECT_EQ(Timings({10, 10, 9, 8}).choose(), kOne);
}

TEST(ChooseWay, ADisturbedRunCountsForNothing) {
  for (std::size_t victim = 0; victim < kWays.size(); ++victim) {
    for (int when = 0; when < 3; ++when) {
      Timings timings({10, 9, 10, 10.2});
      timings.slower = [&](std::size_t way, int run) {
        return way == victim && run == when ? 1.9 : 1.0;
      };
      EXPECT_EQ(timings.choose(), kGaps) << victim << " " << when;
      EXPECT_EQ(timings.runs[victim], 3);
    }
  }
}

TEST(ChooseWay, RunsAgainUntilTwoTimesOfEachWayAgree) {
  for (std::size_t victim = 0; victim < kWays.size(); ++victim) {
    Timings timings({10, 9, 10, 10.2});
    timings.slower = [&](std::size_t way, int run) {
      return way == victim && run > 0 && run < 4 ? 1.2 + 0.1 * run : 1;
    };
    EXPECT_EQ(timings.choose(), kGaps) << victim;
    EXPECT_EQ(timings.runs, (std::array{5, 5, 5, 5}));
  }
}

TEST(ChooseWay, RefusesTimesThatNeverAgree) {
  for (std::size_t victim = 0; victim < kWays.size(); ++victim) {
    Timings timings({10, 9, 10, 10});
    timings.slower = [&](std::size_t way, int run) { return way == victim ? 1 + 0.04 * run : 1; };
    EXPECT_EQ(timings.choose(), std::nullopt) << victim;
    EXPECT_EQ(timings.runs[victim], 6);
  }
}

TEST(ChooseWay, DoesNotRunAHopelessWayAgainUnlessItIsTheFixedOne) {
  Timings timings({20, 10, 12, 10.5});
  EXPECT_EQ(timings.choose(), kGaps);
  EXPECT_EQ(timings.runs, (std::array{3, 3, 2, 3}));
}

}  // namespace
}  // namespace howard::host
