// SPDX-License-Identifier: Apache-2.0
//
// These tests run several processes of one run, started by mpirun.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

class CliRanks : public CliFixture {
 protected:
  Outcome run_ranks(int ranks, const std::string& arguments) const {
    // Leak detection is off, because Open MPI keeps memory until the end.
    return run(arguments, "ASAN_OPTIONS=detect_leaks=0 '" HOWARD_MPIRUN
                          "' --allow-run-as-root --oversubscribe -n " +
                              std::to_string(ranks));
  }
};

TEST_F(CliRanks, AnyNumberWritesTheBytesOfOneAlsoWhereAPointFails) {
  const std::string sweep =
      "matmul_sweep --backend emulated --set host.finish=30..40:1us -a shape=128,200000,512 ";
  const Outcome alone = run(sweep + "--json 1.json --csv 1.csv");
  EXPECT_EQ(alone.status, 1) << "a point fails";
  ASSERT_FALSE(content(folder() / "1.json").empty());
  for (const int ranks : {2, 4}) {
    const std::string name = std::to_string(ranks);
    const Outcome together =
        run_ranks(ranks, sweep + "--json " + name + ".json --csv " + name + ".csv");
    EXPECT_EQ(together.status, 1) << together.err;
    EXPECT_EQ(together.out, alone.out);
    EXPECT_EQ(content(folder() / (name + ".json")), content(folder() / "1.json"));
    EXPECT_EQ(content(folder() / (name + ".csv")), content(folder() / "1.csv"));
  }
}

TEST_F(CliRanks, ExperimentsFollowEachOtherAtTheirOwnPaceOnEachRank) {
  const std::string everything = "all --quick --backend emulated --times ";
  EXPECT_EQ(run(everything + "1.txt").status, 0);
  const Outcome together = run_ranks(3, everything + "3.txt");
  EXPECT_EQ(together.status, 0) << together.err;
  ASSERT_FALSE(content(folder() / "1.txt").empty());
  EXPECT_EQ(content(folder() / "3.txt"), content(folder() / "1.txt"));
}

TEST_F(CliRanks, OneOfThemSpeaksForAll) {
  const Outcome typo = run_ranks(3, "matmul_swep");
  EXPECT_EQ(typo.status, 2);
  const std::size_t first = typo.err.find("did you mean matmul_sweep?");
  ASSERT_NE(first, std::string::npos) << typo.err;
  EXPECT_EQ(typo.err.find("did you mean", first + 1), std::string::npos) << typo.err;
  EXPECT_EQ(run_ranks(3, "list").out, run("list").out);
  const std::string plan = "matmul_sweep --dry-run";
  EXPECT_EQ(run_ranks(3, plan).out, run(plan).out);
}

TEST_F(CliRanks, WhatIsNotSharedSaysSo) {
  for (const char* const alone : {"analyze x.csv", "compare a b", "matmul_sweep --trace t.json",
                                  "matmul_sweep --device-logs logs"}) {
    const Outcome outcome = run_ranks(2, alone);
    EXPECT_EQ(outcome.status, 2) << alone;
    EXPECT_TRUE(contains(outcome.err, "works in one process, not in 2")) << outcome.err;
  }
}

}  // namespace
}  // namespace howard::cli
