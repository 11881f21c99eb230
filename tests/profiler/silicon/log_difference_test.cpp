// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/log_difference.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/profiler/silicon/logged_ops.h"

namespace howard::profiler {
namespace {

using testing::back_to_back;
using testing::kOpsHeader;
using testing::Op;
using testing::read;

TEST(LogDifference, ChangesAddUpToTheDifferenceOfTheKernels) {
  std::vector<Op> before = back_to_back({.kernel = 10'000}, 6);
  std::vector<Op> after = before;
  for (Op& op : after) op.kernel = 12'000;
  before.push_back(
      {.code = "Softmax", .call = 7, .host = 12'000, .start = 2'000'000, .kernel = 3'000});
  after.push_back({.code = "Exp", .call = 7, .host = 12'000, .start = 2'000'000, .kernel = 1'000});
  const reports::LogDifference found = reports::difference(read(before), read(after));
  ASSERT_EQ(found.changes.size(), 3U);
  EXPECT_EQ(found.changes[0].op, "Matmul");
  EXPECT_EQ(found.changes[0].change(), SimTime::microseconds(12));
  SimTime sum;
  for (const reports::LogChange& change : found.changes) sum += change.change();
  EXPECT_EQ(sum, found.kernels_after - found.kernels_before);
  const std::vector<reports::Table> tables = reports::difference_tables(found, "log", 1);
  EXPECT_EQ(tables.at(1).rows.size(), 2U) << "one, and the others";
}

TEST(LogDifference, ACallIsJudgedByItsRunsAndTheirSpread) {
  const auto with = [](std::vector<std::int64_t> kernels, int count) {
    std::vector<Op> ops = back_to_back({.kernel = 100'000}, count);
    for (std::size_t i = 0; i < ops.size(); ++i) ops[i].kernel = kernels[i % kernels.size()];
    return read(ops);
  };
  const auto verdict = [&](const Log& before, const Log& after) {
    return reports::verdict_of(reports::difference(before, after).changes.at(0));
  };
  const Log usual = with({50'000, 50'100}, 20);
  EXPECT_EQ(verdict(usual, with({50'200}, 20)), "same") << "by 0.4 %";
  EXPECT_EQ(verdict(usual, with({50'000, 50'100}, 10)), "fewer runs");
  EXPECT_EQ(verdict(usual, with({55'000}, 20)), "slower");
  EXPECT_EQ(verdict(usual, with({45'000}, 10)), "faster, fewer runs");
  EXPECT_EQ(verdict(with({20'000, 80'000}, 20), with({21'000, 82'000}, 20)), "same") << "noise";
}

TEST(LogDifference, ACallWhoseRowsWereLeftOutIsNotGone) {
  std::vector<Op> ops = back_to_back({.kernel = 10'000}, 4);
  ops.push_back(
      {.code = "LayerNorm", .call = 5, .host = 9'000, .start = 2'000'000, .kernel = 9'000});
  const Log before = read(ops);
  std::string text(kOpsHeader);
  for (const Op& op : ops) {
    std::string row = op.text();
    if (op.code == "LayerNorm") row.replace(row.find(",2000000,"), 9, ",?,");
    text += row;
  }
  TextBytes source(text);
  const Log after = read_ops_csv(source, "ops.csv", {.tensors = Tensors::read});
  const reports::LogDifference found = reports::difference(before, after);
  ASSERT_EQ(found.changes.at(0).op, "LayerNorm");
  EXPECT_EQ(reports::verdict_of(found.changes[0]), "rows missing");
  EXPECT_EQ(found.warnings_after.size(), found.warnings_before.size() + 1);
  const std::vector<reports::Table> tables = reports::difference_tables(found, "log", 5);
  const auto warned = std::ranges::any_of(tables.at(0).notes, [](const std::string& note) {
    return note.find("warning, after: left out 1 row") != std::string::npos;
  });
  EXPECT_TRUE(warned);
}

TEST(LogDifference, ACallWithOtherMemoryOrConfigurationIsOneThatChanged) {
  const auto config = [](int block) {
    return fmt::format(
        "{{'program_config': 'MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w={};"
        "per_core_M=1;per_core_N=8)'}}",
        block);
  };
  std::vector<Op> before = back_to_back({.kernel = 128'000, .attributes = config(2)}, 3);
  std::vector<Op> after = back_to_back({.kernel = 111'000,
                                        .attributes = config(8),
                                        .fidelity = "HiFi2",
                                        .in1_memory = "DEV_0_DRAM_WIDTH_SHARDED"},
                                       3);
  before.push_back(
      {.code = "Softmax", .call = 9, .host = 9'000, .start = 3'000'000, .kernel = 900});
  after.push_back({.code = "Exp", .call = 9, .host = 9'000, .start = 3'000'000, .kernel = 900});
  const reports::LogDifference found = reports::difference(read(before), read(after));
  ASSERT_EQ(found.changes.size(), 3U);
  const reports::LogChange& product = found.changes[0];
  EXPECT_EQ(reports::verdict_of(product), "faster");
  EXPECT_EQ(product.changed,
            "in1 DRAM interleaved -> DRAM width sharded; HiFi4 -> HiFi2; in0_block_w 2 -> 8");
  EXPECT_EQ(product.one_before, SimTime::microseconds(128));
  EXPECT_EQ(product.one_after, SimTime::microseconds(111));
  for (const reports::LogChange& other : {found.changes[1], found.changes[2]}) {
    EXPECT_EQ(reports::verdict_of(other), other.op == "Softmax" ? "gone" : "new");
  }
  const reports::LogDifference same = reports::difference(read(before), read(before));
  EXPECT_EQ(same.changes[0].changed, "");
  EXPECT_EQ(reports::verdict_of(same.changes[0]), "same");
}

}  // namespace
}  // namespace howard::profiler
