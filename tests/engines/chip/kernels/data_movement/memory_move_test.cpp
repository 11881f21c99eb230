// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/data_movement/data_movement.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/facts.h"
#include "engines/ops/tensor.h"
#include "tests/engines/chip/round_profiles.h"

namespace howard::chip {
namespace {

class L1Ops : public ::testing::Test {
 protected:
  static Profiles profiles() {
    Profiles profiles = round_profiles();
    profiles.chip.l1_latency = ns(36);
    return profiles;
  }
  ops::Tensor in_dram(const Shape& shape) { return {device_, {.shape = shape}}; }
  ops::Tensor in_l1(const Shape& shape) {
    return {device_, {.shape = shape, .storage = Storage::l1}};
  }
  /// Rows of tiles, one for each core.
  ops::Tensor in_shards(const Shape& shape) {
    return {device_,
            {.shape = shape,
             .storage = Storage::l1,
             .sharding = Sharding{ShardLayout::height, {8, 8}, 32, shape.columns()}}};
  }
  const PlannedProgram& plan(const Program& program) { return device_.explain(program); }
  SimTime time(const Program& program) { return plan(program).kernel.total; }

  EmulatedChip device_{profiles(), {.dispatch = DispatchCoreType::eth}};  // 64 cores
};

TEST_F(L1Ops, InterleavedOperandsAreReadSoonerAndTakeNothingOfTheDram) {
  const Shape tile{32, 32};
  const Program far =
      make_program(eltwise_of(Eltwise::add), {in_dram(tile), in_dram(tile)}, {in_dram(tile)});
  const Program near =
      make_program(eltwise_of(Eltwise::add), {in_l1(tile), in_l1(tile)}, {in_l1(tile)});
  // A read waits 100 ns less, a write 200 ns.
  EXPECT_EQ(time(far) - time(near), ns(100 + 200));
  EXPECT_EQ(plan(near).kernel.dram, Bytes(0));
  const Program mixed =
      make_program(eltwise_of(Eltwise::add), {in_l1(tile), in_dram(tile)}, {in_l1(tile)});
  EXPECT_EQ(plan(mixed).kernel.dram, Bytes(2048));
}

TEST_F(L1Ops, EqualShardsMoveNothing) {
  const Shape shape{64 * 32, 128};
  const Program program = make_program(eltwise_of(Eltwise::add),
                                       {in_shards(shape), in_shards(shape)}, {in_shards(shape)});
  // 4 tiles a core, each unpacked and packed again in 50 ns.
  EXPECT_EQ(time(program), ns(600 + 4 * 50));
  EXPECT_EQ(plan(program).kernel.dram, Bytes(0));
  EXPECT_EQ(plan(program).kernel.cores, 64);
}

TEST_F(L1Ops, OtherShardsAreReadPageByPage) {
  const Shape shape{64 * 32, 128};
  const Program program = make_program(eltwise_of(Eltwise::add), {in_shards(shape), in_dram(shape)},
                                       {in_shards(shape)});
  EXPECT_GT(time(program), ns(1000 + 4 * 50));
  EXPECT_GT(plan(program).kernel.dram, Bytes(0));
}

TEST_F(L1Ops, AFunctionOfOneValueKeepsTheSharding) {
  const Shape shape{64 * 32, 128};
  EXPECT_THROW(plan(make_program(eltwise_of(Eltwise::relu), {in_shards(shape)}, {in_l1(shape)})),
               Error);
  EXPECT_EQ(time(make_program(eltwise_of(Eltwise::relu), {in_shards(shape)}, {in_shards(shape)})),
            ns(600 + 4 * 50));
}

TEST_F(L1Ops, ShardsInABlockFormatStayWithAScalarAndWithAShardThatIsNotFull) {
  const auto shards = [&](std::int64_t rows, DataType dtype) {
    return ops::Tensor(device_, {.shape = {rows, 128},
                                 .dtype = dtype,
                                 .storage = Storage::l1,
                                 .sharding = Sharding{ShardLayout::height, {8, 1}, 64, 128}});
  };
  const auto block = [&](std::int64_t rows) { return shards(rows, DataType::bfloat8_b); };
  const auto sum = [&](const ops::Tensor& x) {
    return make_program(eltwise_of(Eltwise::add), {x, x}, {x});
  };
  // 8 tiles a core in 30 ns each, also where the last core has 4 of them.
  EXPECT_EQ(time(sum(block(512))), ns(600 + 8 * 30));
  EXPECT_EQ(time(sum(block(480))), ns(600 + 8 * 30));
  EXPECT_EQ(plan(sum(block(480))).footprint.cores, 8);
  // A scalar fills a tile first.
  EXPECT_EQ(time(make_program(eltwise_of(Eltwise::multiply, 2.0F), {block(512)}, {block(512)})),
            ns(600 + 8 * 30 + 512 * 2));
  // The newer kernel reads all of these tile by tile.
  const ops::Tensor even = shards(512, DataType::bfloat16);
  EXPECT_EQ(time(sum(even)), ns(600 + 8 * 50));
  EXPECT_GT(time(sum(shards(480, DataType::bfloat16))), ns(1000));
  EXPECT_GT(time(make_program(eltwise_of(Eltwise::multiply, 2.0F), {even}, {even})), ns(1000));
}

TEST_F(L1Ops, HeadsOfShardsAreCopiedWithinTheirCore) {
  const auto shards = [&](const Shape& shape, ShardLayout layout, CoreGrid grid, std::int64_t rows,
                          std::int64_t columns) {
    return ops::Tensor(device_, {.shape = shape,
                                 .storage = Storage::l1,
                                 .sharding = Sharding{layout, grid, rows, columns}});
  };
  // Two sequences of 64 rows and 8 heads: 4 heads a core, 24 tiles with their keys and values.
  const ops::Tensor x = shards({2, 1, 64, 768}, ShardLayout::block, {2, 2}, 64, 384);
  const ops::Tensor q = shards({2, 8, 64, 32}, ShardLayout::height, {4, 1}, 256, 32);
  const auto split = [&](const ops::Tensor& from, bool transposes, const ops::Tensor& k) {
    return make_program(SplitHeadsAttributes{.heads = 8, .transpose_k = transposes},
                        {from.operand()}, {q.operand(), k.operand(), q.operand()});
  };
  // Each RISC copies 12 tiles of 64 ns.
  EXPECT_EQ(time(split(x, false, q)), ns(600 + 36 + 12 * 64));
  EXPECT_EQ(plan(split(x, false, q)).kernel.cores, 4);
  // 8 tiles of keys are transposed, which takes longer.
  Profiles slow = profiles();
  slow.software.tiles.transpose = ns(1000);
  EmulatedChip chip(slow, {.dispatch = DispatchCoreType::eth});
  const ops::Tensor k = shards({2, 8, 32, 64}, ShardLayout::height, {4, 1}, 128, 64);
  EXPECT_EQ(chip.explain(split(x, true, k)).kernel.total, ns(600 + 36 + 8 * 1000));
  const Program joined =
      make_program(ConcatHeadsAttributes{}, {q.operand()},
                   {shards({2, 1, 64, 256}, ShardLayout::block, {2, 2}, 64, 128).operand()});
  EXPECT_EQ(time(joined), ns(600 + 36 + 4 * 64));
  EXPECT_GT(time(split(in_l1({2, 1, 64, 768}), false, q)), ns(2000));
}

TEST_F(L1Ops, RowsOfAShardBecomeTilesWhereTheyAre) {
  const auto rows = [&](Layout layout) {
    return ops::Tensor(device_, {.shape = {64 * 32, 128},
                                 .layout = layout,
                                 .storage = Storage::l1,
                                 .sharding = Sharding{ShardLayout::height, {8, 8}, 32, 128}});
  };
  const PlannedProgram tilized = plan(make_program(
      LayoutAttributes{}, {rows(Layout::row_major).operand()}, {rows(Layout::tile).operand()}));
  EXPECT_EQ(tilized.kernel.total, ns(600) + 4 * profiles().software.convolution.tilize);
  EXPECT_EQ(tilized.kernel.cores, 64);
}

TEST_F(L1Ops, TensorsMoveBetweenMemories) {
  const Shape shape{64 * 32, 128};
  const auto named = [](const auto& of) { return facts_of(of, profiles().chip).operation; };
  const PlannedProgram into =
      plan(make_program(MemoryMoveAttributes{}, {in_dram(shape)}, {in_shards(shape)}));
  EXPECT_EQ(named(into), "InterleavedToShardedDeviceOperation");
  EXPECT_EQ(into.kernel.dram, Bytes(64 * 4 * 2048));
  // Four tiles at once: 136 to wait, 4 x 64.
  EXPECT_EQ(into.kernel.total, ns(1000 + 136 + 4 * 64));
  const PlannedProgram out =
      plan(make_program(MemoryMoveAttributes{}, {in_shards(shape)}, {in_dram(shape)}));
  EXPECT_EQ(named(out), "ShardedToInterleavedDeviceOperation");
  // The writes go to banks, whose share of the time is no whole number of nanoseconds.
  EXPECT_NEAR(static_cast<double>(out.kernel.total.ps()), 1e3 * (1000 + 236 + 4 * 64), 1e3);
  const ops::Tensor halves(device_, {.shape = shape,
                                     .storage = Storage::l1,
                                     .sharding = Sharding{ShardLayout::height, {8, 4}, 64, 128}});
  const PlannedProgram again =
      plan(make_program(MemoryMoveAttributes{}, {in_shards(shape)}, {halves}));
  EXPECT_EQ(named(again), "ReshardDeviceOperation");
  // Each of the 32 cores, which are fewer, moves eight tiles in 128 ns each.
  EXPECT_EQ(again.kernel.total, ns(1000 + 600 + 36 + 8 * 128));
  EXPECT_EQ(named(plan(make_program(MemoryMoveAttributes{}, {in_dram(shape)}, {in_l1(shape)}))),
            "CopyDeviceOperation");
}

TEST_F(L1Ops, ShardsTakeTheirPartOfTheL1OfACore) {
  // 16 KiB a core and tensor: 64 rows of tiles of 8 tiles each.
  const Shape shape{64 * 32, 256};
  std::vector<ops::Tensor> held;
  EXPECT_THROW(for (int i = 0; i < 200; ++i) held.push_back(in_shards(shape)), Error);
  EXPECT_GT(held.size(), 70U);
  EXPECT_LT(held.size(), 95U);
}

}  // namespace
}  // namespace howard::chip
