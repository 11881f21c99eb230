// SPDX-License-Identifier: Apache-2.0
//
// Expected times are worked out by hand from the constants of round_profiles.h.
#include "engines/chip/kernels/data_movement/data_movement.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/plan/plans.h"
#include "engines/ops/tensor.h"
#include "tests/engines/chip/round_profiles.h"

namespace howard::chip {
namespace {

class MovementOps : public ::testing::Test {
 protected:
  ops::Tensor tensor(const Shape& shape, Layout layout = Layout::tile) {
    return {device_, {shape, DataType::bfloat16, layout}};
  }
  ops::Tensor indices(const Shape& shape) {
    return {device_, {shape, DataType::uint32, Layout::row_major}};
  }
  const PlannedProgram& plan(const Program& program) { return device_.explain(program); }
  SimTime time(const Program& program) { return plan(program).kernel.total; }

  Program swap_heads(const Shape& shape) {
    return make_program(TransposeAttributes{.swap = Swap::heads_rows}, {tensor(shape)},
                        {tensor(shape.heads_swapped())});
  }
  Program reshape(const Shape& from, const Shape& to) {
    return make_program(ReshapeAttributes{}, {tensor(from)}, {tensor(to)});
  }
  Program tilize(const Shape& shape) {
    return make_program(LayoutAttributes{.to = tensor(shape).spec().layout},
                        {tensor(shape, Layout::row_major)}, {tensor(shape)});
  }
  Program untilize(const Shape& shape) {
    return make_program(LayoutAttributes{.to = tensor(shape, Layout::row_major).spec().layout},
                        {tensor(shape)}, {tensor(shape, Layout::row_major)});
  }
  Program embedding(const Shape& positions, std::int64_t words, std::int64_t width) {
    return make_program(EmbeddingAttributes{},
                        {indices(positions), tensor({words, width}, Layout::row_major)},
                        {tensor({positions.rows(), positions.columns(), width})});
  }
  Program embedding_backward(const Shape& positions, std::int64_t words, std::int64_t width) {
    return make_program(
        EmbeddingBackwardAttributes{},
        {indices(positions), tensor({positions.rows(), positions.columns(), width})},
        {tensor({words, width})});
  }

  EmulatedChip device_{round_profiles(), {.dispatch = DispatchCoreType::eth}};  // 64 cores
};

TEST_F(MovementOps, SwappingHeadsAndRowsWritesTheLinesOfEachFace) {
  // There are 32 tiles of 19 rows, one a core: start, read, 2 x 19 lines of 3 and the barrier.
  EXPECT_EQ(time(swap_heads({1, 32, 19, 32})), ns(1000 + 200 + 236 + 38 * 3));
  // Rows of padding are not moved; full tiles have 32 rows.
  EXPECT_EQ(time(swap_heads({1, 32, 32, 32})), ns(1000 + 200 + 236 + 64 * 3));
  // There are 96 tiles, so the busiest core writes two.
  const PlannedProgram planned = plan(swap_heads({1, 96, 32, 32}));
  EXPECT_EQ(planned.kernel.total, ns(1000 + 200 + 2 * (236 + 64 * 3)));
  EXPECT_EQ(planned.footprint.kernel_groups, 2);
  EXPECT_EQ(planned.kernel.dram, Bytes(96 * 2 * 2048));
}

TEST_F(MovementOps, ASwapWritesZerosBelowTheRowsOfTheResult) {
  // The result has 19 tiles of 2 rows, one a core: what is left of the upper two faces and both
  // lower ones, by a line's time each, and a barrier.
  EXPECT_EQ(time(swap_heads({1, 2, 19, 32})), ns(1000 + 236 + 4 * 3 + 200 + 236 + 38 * 3));
  // Of 20 rows both lower faces are left. Each of 20 cores has one tile of the operand.
  EXPECT_EQ(time(swap_heads({1, 20, 20, 32})), ns(1000 + 236 + 2 * 3 + 200 + 236 + 40 * 3));
}

TEST_F(MovementOps, TilesArePaddedByManyCoresOrByOne) {
  const auto pad = [&](bool use_multicore) {
    return make_program(PadAttributes{.use_multicore = use_multicore}, {tensor({4, 1, 32, 32})},
                        {tensor({8, 1, 32, 32})});
  };
  // A RISC fills a tile of 512 words at 2. Four tiles are brought, 300 each, and four of padding
  // are written at 64: 182 on average.
  const PlannedProgram many = plan(pad(true));
  EXPECT_EQ(many.kernel.cores, 8);
  EXPECT_EQ(many.kernel.total.ps() / 1000, 1000 + 1024 + 182);
  EXPECT_EQ(many.kernel.dram, Bytes((4 + 8) * 2048));
  const PlannedProgram one = plan(pad(false));
  EXPECT_EQ(one.kernel.cores, 1);
  EXPECT_EQ(one.kernel.total.ps() / 1000, 1000 + 1024 + 8 * 182);
}

TEST_F(MovementOps, APageThatIsWaitedForIsIssuedAsAShortTransaction) {
  Profiles profiles = round_profiles();
  profiles.software.noc_read_issue = ns(60);
  profiles.software.convolution.dram_read = ns(7);
  EmulatedChip chip(profiles, {.dispatch = DispatchCoreType::eth});
  const auto of = [&](std::int64_t rows) {
    const Shape shape{rows, 4};
    const ops::Tensor x(chip, {shape, DataType::bfloat16, Layout::row_major});
    const ops::Tensor y(chip, {shape});
    return chip.explain(make_program(LayoutAttributes{.to = Layout::tile}, {x}, {y})).kernel.total;
  };
  // A row less is filled with 8 bytes, two stores of 2.
  EXPECT_EQ(of(31) - of(30), ns(136 + 7) - 2 * ns(2));
}

TEST_F(MovementOps, TilesInL1AreMovedWithItsLatency) {
  const auto of = [&](Storage storage) {
    const ops::Tensor x(device_, {.shape = {64, 128}, .storage = storage});
    return plan(make_program(MoveTilesAttributes{}, {x.operand()}, {x.operand()}));
  };
  const SimTime l1 = round_profiles().chip.l1_latency;
  EXPECT_EQ(of(Storage::dram).kernel.total, ns(1000 + 200 + 300));
  EXPECT_EQ(of(Storage::l1).kernel.total, ns(1000 + 2 * 64) + 2 * l1);
  EXPECT_EQ(of(Storage::l1).kernel.dram, Bytes());
}

TEST_F(MovementOps, HeadsOfAStepInShardsAreOnlyCopiedAndCachesOfBlocksTakeLess) {
  const auto tensor_of = [&](const Shape& shape, std::optional<Sharding> shards, Storage storage,
                             DataType dtype = DataType::bfloat16) {
    return Operand{TensorSpec{
        .shape = shape, .dtype = dtype, .storage = storage, .sharding = std::move(shards)}};
  };
  const Sharding users{ShardLayout::height, {8, 4}, 32, 64};
  const Operand heads = tensor_of({1, 32, 4, 64}, users, Storage::l1);
  const auto split = [&](std::optional<Sharding> shards) {
    return time(make_program(SplitHeadsDecodeAttributes{.heads = 4, .groups = 4},
                             {tensor_of({1, 1, 32, 768}, std::move(shards), Storage::l1)},
                             {heads, heads, heads}));
  };
  // 24 tiles of a user have two lines each, of 5.
  EXPECT_EQ(split(Sharding{ShardLayout::width, {8, 3}, 32, 32}), ns(600 + 48 * 5));
  EXPECT_EQ(split(std::nullopt), ns(600 + 800 + 48 * 5));
  const auto update = [&](DataType dtype) {
    const Operand cache = tensor_of({32, 4, 128, 64}, std::nullopt, Storage::dram, dtype);
    return time(make_program(PagedUpdateCacheAttributes{}, {heads, cache}, {cache}));
  };
  // A user's 4 heads have 8 tiles.
  EXPECT_EQ(update(DataType::bfloat16) - update(DataType::bfloat8_b), 8 * ns(400 - 250));
}

TEST_F(MovementOps, RowsAreJoinedRowByRow) {
  const ops::Tensor part = tensor({64, 64}, Layout::row_major);
  const PlannedProgram wide =
      plan(make_program(ConcatAttributes{.dimension = 3}, {part.operand(), part.operand()},
                        {tensor({64, 128}, Layout::row_major).operand()}));
  EXPECT_EQ(wide.kernel.cores, 64) << "a row each, not two rows of tiles";
  // Two parts of 128 bytes are asked for, 10 each, and a row of 256 written: 37, as
  // a short transaction.
  EXPECT_EQ(wide.kernel.total, ns(1000 + 136 + 2 * 10 + 236 + 37));
  EXPECT_EQ(wide.kernel.dram, Bytes(2 * 64 * 256));
}

TEST_F(MovementOps, OneCoreTilizesAndUntilizesWhereItIsToldSo) {
  Program one = untilize({64, 128});
  std::get<LayoutAttributes>(one.attributes).use_multicore = false;
  const PlannedProgram planned = plan(one);
  EXPECT_EQ(planned.kernel.cores, 1);
  EXPECT_EQ(planned.kernel.total, ns(1000 + 136 + 4 * 64 + 4 * 50 + 2 * (236 + 32 * 10)));
}

TEST_F(MovementOps, ASliceInStepsPicksItsNumbersByteByByte) {
  const auto slice = [&](std::int64_t step) {
    return make_program(SliceAttributes{.begins = {}, .steps = {1, 1, 1, step}},
                        {tensor({2, 256}, Layout::row_major)},
                        {tensor({2, 128}, Layout::row_major)});
  };
  // Each of two cores reads a row, copies 256 bytes at 2, and writes them.
  EXPECT_EQ(time(slice(2)) - time(slice(1)), ns(256 * 2));
}

TEST_F(MovementOps, AReshapeReadsATileForEachRowOfAnotherWidth) {
  // [19, 128] becomes [19, 4, 32]: 19 tiles of 4 rows, each row copied from another tile.
  const PlannedProgram split = plan(reshape({19, 128}, {19, 4, 32}));
  EXPECT_EQ(split.kernel.cores, 19);
  EXPECT_EQ(split.kernel.total, ns(1000 + 4 * (200 + 7) + 300));
  EXPECT_EQ(split.kernel.dram, Bytes(19 * 5 * 2048));
  // Back again there are 4 tiles of 19 rows.
  EXPECT_EQ(time(reshape({19, 4, 32}, {19, 128})), ns(1000 + 19 * (200 + 7) + 300));
}

TEST_F(MovementOps, AReshapeOfTheSameWidthFindsItsRowsTogether) {
  // [4, 16, 32] becomes [2, 32, 32]: each tile is made of two.
  EXPECT_EQ(time(reshape({4, 16, 32}, {2, 32, 32})), ns(1000 + 2 * 200 + 32 * 7 + 300));
}

TEST_F(MovementOps, TilizeTakes32RowsAtATime) {
  // There are 2 bands of 4 tiles: rows of 256 bytes are issued every 10 ns (8 through the port),
  // and 4 tiles are copied in 50 each and written in one batch.
  EXPECT_EQ(time(tilize({64, 128})), ns(1000 + 136 + 32 * 10 + 4 * 50 + 236 + 4 * 64));
  EXPECT_EQ(time(untilize({64, 128})), ns(1000 + 136 + 4 * 64 + 4 * 50 + 236 + 32 * 10));
  EXPECT_EQ(plan(tilize({64, 128})).kernel.cores, 2);
}

TEST_F(MovementOps, LongRowsOfFewTilesAreCutIntoBlocks) {
  // The 4096 tiles of 32 rows of logits are 64 for each of 64 cores, not all for one.
  EXPECT_EQ(plan(untilize({32, 131072})).kernel.cores, 64);
  EXPECT_EQ(plan(tilize({32, 131072})).kernel.cores, 64);
  EXPECT_LT(5 * time(untilize({32, 131072})), time(untilize({4096 * 32, 32})) * 6)
      << "as many tiles in short rows take about as long";
  // Five rows of 40 tiles are 200: blocks of 2 x 2 are 60, of which each core has one.
  EXPECT_EQ(plan(untilize({5 * 32, 40 * 32})).kernel.cores, 60);
  // Rows of 32 tiles are whole, and so are rows that keep all cores busy.
  EXPECT_EQ(plan(untilize({32, 1024})).kernel.cores, 1);
  EXPECT_EQ(plan(untilize({64 * 32, 40 * 32})).kernel.cores, 64);
}

TEST_F(MovementOps, CoresThatWriteThePagesOfOneRowAreAtOneBank) {
  EmulatedChip wormhole{load_profiles()};
  const auto time = [&](const Shape& shape) {
    const ops::Tensor tiles(wormhole, {shape, DataType::bfloat16});
    const ops::Tensor rows(wormhole, {shape, DataType::bfloat16, Layout::row_major});
    return wormhole
        .explain(make_program(LayoutAttributes{.to = rows.spec().layout}, {tiles}, {rows}))
        .kernel.total;
  };
  // Both kernels move as many bytes; in the second each core has rows, and banks, of its own.
  EXPECT_GT(time({32, 64 * 64 * 32}), time({64 * 32, 64 * 32}));
}

TEST_F(MovementOps, TilizeOfPaddedRowsWaitsForEachAndFillsTheRest) {
  // There are 19 pieces of 64 bytes, one after the other, and 13 rows of 16 words at 2.
  const PlannedProgram planned = plan(tilize({19, 1280}));
  EXPECT_EQ(planned.kernel.cores, 40) << "tiles of long rows are dealt out, as measured";
  EXPECT_EQ(planned.kernel.total, ns(1000 + 19 * (136 + 37) + 13 * 16 * 2 + 50 + 300));
  // 32 rows of 90 tiles are blocks of 8 x 8 on 48 cores, not 45 tiles on each of 64. A Blackhole
  // with 110 cores has 6 x 6 on 90 (GPT-OSS-20B, July 2026).
  EXPECT_EQ(plan(tilize({32, 1, 2880})).kernel.cores, 48);
  EXPECT_EQ(plan(tilize({19, 128})).kernel.cores, 1) << "and rows of others";
}

TEST_F(MovementOps, HeadsAreMovedTileByTileInRowsOfTiles) {
  const ops::Tensor qkv = tensor({3, 1, 64, 3 * 2 * 64});
  const ops::Tensor q = tensor({3, 2, 64, 64});
  // There are 6 rows of tiles with 12 tiles each. Writing, 300, is slower than reading.
  const PlannedProgram split =
      plan(make_program(SplitHeadsAttributes{.heads = 2}, {qkv}, {q, q, q}));
  EXPECT_EQ(split.kernel.cores, 6);
  EXPECT_EQ(split.kernel.total, ns(1000 + 200 + 12 * 300));
  EXPECT_EQ(split.kernel.dram, Bytes(2 * 72 * 2048));
  const PlannedProgram merge =
      plan(make_program(ConcatHeadsAttributes{}, {q}, {tensor({3, 1, 64, 128})}));
  EXPECT_EQ(merge.kernel.cores, 6);
  EXPECT_EQ(merge.kernel.total, ns(1000 + 200 + 4 * 300));
}

TEST_F(MovementOps, ConcatDealsOutTheTilesOfTheResult) {
  const std::array<ops::Tensor, 2> parts{tensor({32, 32 * 40}), tensor({32, 32 * 25})};
  const PlannedProgram planned =
      plan(make_program(ConcatAttributes{}, ops::operands_of(parts), {tensor({32, 32 * 65})}));
  EXPECT_EQ(planned.kernel.cores, 64);
  EXPECT_EQ(planned.kernel.total, ns(1000 + 200 + 2 * 300));
  EXPECT_EQ(planned.footprint.kernel_groups, 2);
}

TEST_F(MovementOps, EmbeddingWaitsForEachRowOfTheTable) {
  // There are 2 blocks of 32 tokens with rows of 256 bytes: 10 to look up, 136 and 10 to read; then
  // 4 tiles.
  const PlannedProgram planned = plan(embedding({1, 64}, 1000, 128));
  EXPECT_EQ(planned.kernel.cores, 2);
  EXPECT_EQ(planned.kernel.total, ns(1000 + 32 * 156 + 4 * 50 + 236 + 4 * 64));
  // The size of the table does not matter.
  EXPECT_EQ(time(embedding({1, 64}, 50, 128)), planned.kernel.total);
}

TEST_F(MovementOps, EmbeddingBackwardRewritesEachChunkOfTheTableEvery32Tokens) {
  // There are 4 tile columns; 64 tokens are 2 blocks; 96 rows are 3 chunks: read, mask, add, write.
  const PlannedProgram planned = plan(embedding_backward({1, 64}, 96, 128));
  EXPECT_EQ(planned.kernel.cores, 4);
  EXPECT_EQ(planned.kernel.total, ns(1000 + 2 * (2 * 200 + 3 * (200 + 90 + 30 + 300))));
  // Each block reads a gradient and three chunks and writes the chunks back.
  EXPECT_EQ(planned.kernel.dram, Bytes(4 * 2 * (1 + 3 + 3) * 2048));
  // 32 tokens touch at most 32 chunks.
  EXPECT_EQ(time(embedding_backward({1, 32}, 32 * 32, 128)),
            time(embedding_backward({1, 32}, 32 * 500, 128)));
  EXPECT_LT(time(embedding_backward({1, 32}, 32 * 31, 128)),
            time(embedding_backward({1, 32}, 32 * 32, 128)));
}

TEST_F(MovementOps, MoreNeverTakesLess) {
  for (const auto& make : std::array<std::function<Program(std::int64_t)>, 5>{
           [&](std::int64_t n) {
             return swap_heads({n, 32, 32, 64});
           },
           [&](std::int64_t n) {
             return reshape({n, 32, 64}, {n, 32, 2, 32});
           },
           [&](std::int64_t n) {
             return tilize({32 * n, 64});
           },
           [&](std::int64_t n) {
             return embedding({n, 32}, 96, 64);
           },
           [&](std::int64_t n) {
             return embedding_backward({n, 32}, 96, 64);
           }}) {
    SimTime last;
    for (std::int64_t n = 1; n <= 150; ++n) {
      EXPECT_GE(time(make(n)), last) << n;
      last = time(make(n));
    }
  }
}

/// Returns what rows of bfloat16 take into tiles, or out of them, on 20 cores of a Blackhole, in
/// us.
double padded_layout(const Shape& shape, Layout from, Layout to) {
  static const Profiles profiles = load_profiles({.profiles = {"blackhole_p150"}, .settings = {}});
  const auto operand = [&](Layout layout) {
    return Operand{BufferId(), {.shape = shape, .dtype = DataType::bfloat16, .layout = layout}};
  };
  const LayoutAttributes op{.to = to};
  return plan(op, make_program(op, {operand(from)}, {operand(to)}), {5, 4}, profiles)
             .kernel.total.seconds() *
         1e6;
}

/// Kernels in the logs of tt-perf-report (00b7324), on 20 cores of a Blackhole.
TEST(Layouts, KernelsWithPaddingWaitForEachRow) {
  const Layout rows = Layout::row_major, tile = Layout::tile;
  EXPECT_NEAR(padded_layout({1, 384, 1280, 3}, rows, tile) / 8699, 1, 0.25);
  EXPECT_NEAR(padded_layout({1, 7, 25281, 256}, rows, tile) / 3392, 1, 0.25);
  EXPECT_NEAR(padded_layout({1, 1, 25281, 256}, rows, tile) / 494.5, 1, 0.25);
  EXPECT_NEAR(padded_layout({1, 1, 25281, 1792}, rows, tile) / 983.7, 1, 0.45);
  EXPECT_NEAR(padded_layout({1, 159, 159, 3}, rows, tile) / 448.8, 1, 0.25);
  EXPECT_NEAR(padded_layout({1, 384, 1280, 3}, tile, rows) / 6979, 1, 0.1);
  EXPECT_NEAR(padded_layout({1, 1, 25281, 256}, tile, rows) / 391, 1, 0.1);
  EXPECT_NEAR(padded_layout({1, 24, 80, 256}, tile, rows) / 38.1, 1, 0.1);
}

}  // namespace
}  // namespace howard::chip
