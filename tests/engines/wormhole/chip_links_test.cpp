// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/chip_links.h"

#include <gtest/gtest.h>

namespace howard::wormhole {
namespace {

constexpr CollectiveCosts kRound{.start = SimTime::microseconds(9),
                                 .step = SimTime::microseconds(6),
                                 .pair = Bandwidth(5'000'000'000),
                                 .line = Bandwidth(10'000'000'000)};

TEST(ChipLinks, ASumIsAStartAStepALinkAndTheBytesThroughTheBusiestOne) {
  EXPECT_EQ(all_reduce_time(kRound, 1, 0, Bytes(1'000'000)), SimTime());
  EXPECT_EQ(all_reduce_time(kRound, 2, 1, Bytes(1'000'000)), SimTime::microseconds(9 + 6 + 200));
  EXPECT_EQ(all_reduce_time(kRound, 2, 2, Bytes(1'000'000)), SimTime::microseconds(9 + 12 + 200));
  EXPECT_EQ(all_reduce_time(kRound, 4, 3, Bytes(1'000'000)), SimTime::microseconds(9 + 18 + 150));
}

TEST(ChipLinks, PublishedSumsAreWithin15Percent) {
  // tt-metal's CCL results for Wormhole, September 2026, traced.
  struct Row {
    int chips;
    std::int64_t kib;
    double microseconds;
  };
  const CollectiveCosts costs = load_profiles().software.all_reduce;
  for (const Row& row : {Row{2, 64, 24.4}, Row{2, 1024, 163}, Row{2, 16384, 2284}, Row{4, 64, 39.4},
                         Row{4, 1024, 190}, Row{4, 16384, 2416}}) {
    const SimTime time = all_reduce_time(costs, row.chips, row.chips - 1, Bytes(row.kib * 1024));
    EXPECT_NEAR(time.seconds() * 1e6 / row.microseconds, 1, 0.15) << row.chips << " " << row.kib;
  }
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
}  // namespace howard::wormhole
