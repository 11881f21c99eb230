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
