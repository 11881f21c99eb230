// SPDX-License-Identifier: Apache-2.0
//
// These tests compare two runs and check what the status says. They run the real program.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace howard::cli {
namespace {

class Compare : public CliFixture {};

const std::string kOnePoint = "matmul_sweep --backend emulated -a shape=512 -a dispatch=eth ";

/// Writes a chip profile of one name, whose reads of DRAM are that fast.
void write_chip(const std::filesystem::path& file, int gigabytes) {
  std::ofstream(file) << R"({"schema": "howard.profile/1", "name": "mine", "kind": "chip",
    "extends": "wormhole_b0_n300", "meaning": "A test's.", "constants": {"dram.read.noc1":
    {"value": )" << gigabytes
                      << R"(, "unit": "GB/s", "meaning": "m", "source": "unknown: a test"}}})";
}

TEST_F(Compare, AConstantThatAProfileOfTheSameNameChangedIsNamed) {
  const std::string one = "matmul_sweep --backend emulated -a shape=4096 -a dispatch=worker ";
  write_chip(folder() / "chip.json", 190);
  ASSERT_EQ(run(one + "--chip chip.json --json a.json").status, 0);
  write_chip(folder() / "chip.json", 150);
  ASSERT_EQ(run(one + "--chip chip.json --json b.json").status, 0);
  const Outcome slower = run("compare a.json b.json");
  EXPECT_EQ(slower.status, 3) << slower.err;
  EXPECT_TRUE(contains(slower.out, "constants that moved: dram.read.noc1: 190 GB/s -> 150 GB/s"))
      << slower.out;
}

TEST_F(Compare, ComparingSaysByItsStatusWhatHasChanged) {
  ASSERT_EQ(run(kOnePoint + "--times a.txt --json a.json").status, 0);
  EXPECT_EQ(run("compare a.txt a.txt").status, 0);
  const Outcome same = run("compare a.json a.txt");
  EXPECT_EQ(same.status, 0) << same.out;
  EXPECT_TRUE(contains(same.out, "2 exact times: 2 same, 0 slower, 0 faster\n0 missing, 0 new"))
      << same.out;

  ASSERT_EQ(run(kOnePoint + "--times slow.txt --json slow.json --set host.finish=1ms").status, 0);
  const Outcome refused = run("compare a.txt slow.txt");
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(contains(refused.err,
                       "software 'tt_metal_2025_12' and 'tt_metal_2025_12 with "
                       "host.finish=1ms'"))
      << refused.err;
  const Outcome slower = run("compare a.txt slow.txt --anyway");
  EXPECT_EQ(slower.status, 3);
  EXPECT_TRUE(contains(slower.out, "shape:512x512x512")) << slower.out;
  EXPECT_EQ(run("compare slow.txt a.txt --anyway").status, 0) << "faster is no regression";
  EXPECT_EQ(run("compare slow.txt a.txt --anyway --strict").status, 4);
  const Outcome explained = run("compare a.json slow.json --anyway");
  EXPECT_TRUE(contains(explained.out, "constants that moved: host.finish: 40 us -> 1 ms"))
      << explained.out;

  ASSERT_EQ(
      run("matmul_sweep --backend emulated -a shape=512,64 -a dispatch=eth --times b.txt").status,
      0);
  EXPECT_EQ(run("compare a.txt b.txt").status, 6);
  EXPECT_TRUE(contains(run("compare b.txt a.txt").out, "2 missing, 0 new"));
  // Either side may be a folder of results.
  ASSERT_EQ(run(kOnePoint + "--results one").status, 0);
  ASSERT_EQ(run("two_queues --backend emulated --quick --results one").status, 0);
  ASSERT_EQ(run(kOnePoint + "--results two --set host.finish=1ms").status, 0);
  EXPECT_TRUE(contains(run("compare one one").out, " 0 slower, 0 faster\n0 missing, 0 new"));
  EXPECT_EQ(run("compare one two --anyway").status, 3);
  const Outcome fewer = run("compare one a.json");
  EXPECT_EQ(fewer.status, 6);
  EXPECT_TRUE(contains(fewer.out, "2 exact times: 2 same")) << fewer.out;
  const Outcome none = run("compare one /proc/self/fd");
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(contains(none.err, "no result in it")) << none.err;
  std::filesystem::copy_file(folder() / "one/matmul_sweep.json", folder() / "one/copy.json");
  for (const char* const command : {"compare one two", "report one"}) {
    const Outcome twice = run(command);
    EXPECT_EQ(twice.status, 1) << command;
    EXPECT_TRUE(contains(twice.err, "is in copy.json and in matmul_sweep.json")) << twice.err;
  }

  ASSERT_EQ(run(kOnePoint + "--times seed.txt --seed 7").status, 0);
  const Outcome seed = run("compare a.txt seed.txt");
  EXPECT_EQ(seed.status, 0);
  EXPECT_TRUE(contains(seed.err, "warning") && contains(seed.err, "1 and 7")) << seed.err;
}

}  // namespace
}  // namespace howard::cli
