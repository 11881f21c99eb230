// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace howard {
namespace {

TEST(Units, TransferTimeRoundsUpToAPicosecond) {
  EXPECT_EQ(transfer_time(Bytes(28), Bandwidth(28'000'000'000)), SimTime::nanoseconds(1));
  // 1 B at 3 B/s is a third of a second: 333 333 333 333.3 ps.
  EXPECT_EQ(transfer_time(Bytes(1), Bandwidth(3)).ps(), 333'333'333'334);
  EXPECT_EQ(transfer_time(Bytes(0), Bandwidth(3)).ps(), 0);
}

TEST(Units, ATimeBeyond106DaysIsAnError) {
  EXPECT_THROW(transfer_time(Bytes(12'000'000'000), Bandwidth(1)), Error);
  const SimTime longest = SimTime::picoseconds(std::numeric_limits<std::int64_t>::max());
  EXPECT_THROW(longest + SimTime::picoseconds(1), Error);
  EXPECT_THROW(longest * 2, Error);
  EXPECT_THROW(SimTime::picoseconds(-2) - longest, Error);
  EXPECT_EQ(longest - longest, SimTime());
}

TEST(Units, CeilDivRoundsUp) {
  EXPECT_EQ(ceil_div(128, 7), 19);
  EXPECT_EQ(ceil_div(126, 7), 18);
}

}  // namespace
}  // namespace howard
