// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/chip_links.h"

#include <gtest/gtest.h>

#include <utility>

#include "engines/chip/kernels/collective/collective.h"
#include "engines/chip/kernels/plan/footprint.h"

namespace howard::chip {
namespace {

SimTime us(std::int64_t count) { return SimTime::microseconds(count); }

constexpr CollectiveCosts kRound{.gather_start = SimTime::microseconds(4),
                                 .gather_step = SimTime::microseconds(2),
                                 .gather_link = Bandwidth(10'000'000'000),
                                 .gather_copy = Bandwidth(20'000'000'000),
                                 .scatter_start = SimTime::microseconds(3),
                                 .scatter_step = SimTime::microseconds(5),
                                 .scatter_link = Bandwidth(5'000'000'000),
                                 .scatter_add = Bandwidth(50'000'000'000)};

TEST(ChipLinks, TheFarthestShareOfAnAllGatherLeavesLate) {
  // A chip's share of 1 MB takes 100 us over a link and 50 to be copied.
  EXPECT_EQ(all_gather_time(kRound, {2, 1, Bytes(2'000'000)}), us(4 + 2 + 100 + 50));
  EXPECT_EQ(all_gather_time(kRound, {2, 2, Bytes(2'000'000)}), us(4 + 4 + 100 + 50));
  // It is passed on whole, as it is less than a worker announces at once.
  EXPECT_EQ(all_gather_time(kRound, {4, 3, Bytes(4'000'000)}), us(4 + 6 + 300 + 50));
  // A large one is passed on in parts while the busiest link is busy with the others.
  EXPECT_EQ(all_gather_time(kRound, {4, 3, Bytes(400'000'000)}), us(4 + 6 + 30'000));
}

TEST(ChipLinks, TheLastShareOfAReduceScatterIsAddedInTheOpen) {
  EXPECT_EQ(reduce_scatter_time(kRound, {2, 1, Bytes(2'000'000)}), us(3 + 5 + 200 + 20));
  EXPECT_EQ(reduce_scatter_time(kRound, {4, 3, Bytes(4'000'000)}), us(3 + 15 + 600 + 20));
}

TEST(ChipLinks, ASumIsBothAndALaunchBetweenThem) {
  Profiles profiles = load_profiles();
  profiles.software.collectives = kRound;
  EXPECT_EQ(all_reduce_time(profiles, 1, 0, Bytes(1'000'000)), SimTime());
  const ChipLine line{4, 3, Bytes(4'000'000)};
  const SimTime both = all_gather_time(kRound, line) + reduce_scatter_time(kRound, line);
  const SimTime launch = all_reduce_time(profiles, 4, 3, line.whole) - both;
  EXPECT_EQ(launch, go_time(collective_footprint(true, line, profiles), profiles.software,
                            DispatchCoreType::worker));
  EXPECT_GT(launch, us(1));
  EXPECT_LT(launch, us(2));
}

/// tt-metal's formulas for a line, in microseconds and bytes; at two and four chips the rate is the
/// published one of large buffers.
struct PublishedLine {
  double start, step, rate;
  double of(int chips, double size) const {
    return start + step * (chips - 1) + (chips - 1) * size / chips / rate / 1e3;
  }
};

TEST(ChipLinks, LargeBuffersHaveThePublishedRatesOnLinesOfTwoFourAndEight) {
  const CollectiveCosts& costs = load_profiles().software.collectives;
  constexpr Bytes kLarge(1'000'000'000);
  const auto expect = [](SimTime time, double published) {
    EXPECT_NEAR(time.seconds() * 1e6, published, 0.01 * published);
  };
  for (const auto& [chips, rate] : {std::pair{2, 6.36}, {4, 11.74}, {8, 11.8}}) {
    expect(all_gather_time(costs, {chips, chips - 1, kLarge}),
           PublishedLine{4.47, 1.91, rate}.of(chips, 1e9));
  }
  for (const auto& [chips, rate] : {std::pair{2, 8.92}, {4, 10.5}, {8, 11.1}}) {
    expect(reduce_scatter_time(costs, {chips, chips - 1, kLarge}),
           PublishedLine{3.23, 3.97, rate}.of(chips, 1e9));
  }
  // Nothing of an all_reduce is among the constants.
  const Profiles profiles = load_profiles();
  for (const auto& [chips, rate] : {std::pair{2, 7.42}, {4, 11.07}}) {
    expect(all_reduce_time(profiles, chips, chips - 1, kLarge),
           PublishedLine{9.07, 5.82, rate / 2}.of(chips, 1e9));
  }
}

TEST(ChipLinks, ASentBufferIsAsLongAsItsPacketsAre) {
  Profiles profiles = load_profiles();
  profiles.software.collectives = kRound;
  const SimTime one = send_time(profiles, Bytes(4096));
  EXPECT_EQ(send_time(profiles, Bytes(1)), one);
  // One worker waits for each packet that it reads, which takes longer than the link does.
  EXPECT_GT(one, us(6) + transfer_time(Bytes(4096), kRound.gather_link));
  EXPECT_EQ(send_time(profiles, Bytes(40'960)) - us(6), 10 * (one - us(6)));
}

TEST(ChipLinks, AChipBehindAnotherAnswersLaterAndIsReadMoreSlowly) {
  const Profiles near = load_profiles();
  const Profiles far = behind_ethernet(near);
  EXPECT_EQ(far.software.host_finish - near.software.host_finish, 2 * near.chip.link_latency);
  EXPECT_LT(far.chip.pcie_read, near.chip.pcie_read);
  EXPECT_LT(far.chip.pcie_write, near.chip.pcie_write);
  Profiles slow = near;
  slow.chip.pcie_read = Bandwidth(1'000'000);
  EXPECT_EQ(behind_ethernet(slow).chip.pcie_read, slow.chip.pcie_read)
      << "no faster than the way to it";
}

}  // namespace
}  // namespace howard::chip
