// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/elementwise/elementwise.h"

#include <gtest/gtest.h>

#include <vector>

#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/lowering.h"
#include "engines/ops/tensor.h"
#include "engines/ops/training.h"
#include "tests/engines/chip/round_profiles.h"

namespace howard::chip {
namespace {

class TileOps : public ::testing::Test {
 protected:
  ops::Tensor tensor(const Shape& shape, DataType dtype = DataType::bfloat16) {
    return {device_, {shape, dtype}};
  }
  const PlannedProgram& plan(const Program& program) { return device_.explain(program); }
  SimTime time(const Program& program) { return plan(program).kernel.total; }

  Program unary(Eltwise function, const Shape& shape) {
    return make_program(eltwise_of(function), {tensor(shape)}, {tensor(shape)});
  }

  Profiles profiles_ = load_profiles();
  EmulatedChip device_{profiles_, {.dispatch = DispatchCoreType::eth}};  // 64 cores
};

TEST_F(TileOps, TilesAreDealtOutEvenlyAndTheBusiestCoreDecides) {
  // 64 tiles are one a core; 65 tiles make a core with two, and two kernel groups.
  const PlannedProgram even = plan(unary(Eltwise::exp, {32, 32 * 64}));
  EXPECT_EQ(even.kernel.cores, 64);
  EXPECT_EQ(even.footprint.kernel_groups, 1);
  const PlannedProgram odd = plan(unary(Eltwise::exp, {32, 32 * 65}));
  EXPECT_EQ(odd.footprint.kernel_groups, 2);
  EXPECT_EQ(odd.kernel.unshared - even.kernel.unshared,
            profiles_.software.tiles.functions[static_cast<std::size_t>(Eltwise::exp)]);
  EXPECT_EQ(plan(unary(Eltwise::exp, {32, 32 * 5})).kernel.cores, 5);
}

TEST_F(TileOps, PaddedTilesCountWhole) {
  EXPECT_EQ(time(unary(Eltwise::exp, {33, 33})), time(unary(Eltwise::exp, {64, 64})));
}

TEST_F(TileOps, LongVectorCodeIsBoundByMathAndShortByTheDram) {
  EXPECT_EQ(plan(unary(Eltwise::gelu, {4096, 4096})).kernel.bottleneck, Bottleneck::math);
  EXPECT_EQ(plan(unary(Eltwise::relu, {4096, 4096})).kernel.bottleneck, Bottleneck::dram);
  const Program tiny = unary(Eltwise::relu, {32, 32});
  EXPECT_EQ(plan(tiny).kernel.bottleneck, Bottleneck::start);
}

TEST_F(TileOps, ASecondOperandIsReadTileForTile) {
  const ops::Tensor x = tensor({2048, 2048});
  const Program one = make_program(eltwise_of(Eltwise::square), {x}, {x});
  const Program two = make_program(eltwise_of(Eltwise::multiply), {x, x}, {x});
  EXPECT_EQ(plan(two).kernel.dram, Bytes(3 * 4096 * 2048));
  EXPECT_NEAR(time(two).seconds() / time(one).seconds(), 1.5, 0.02) << "three streams for two";
  EXPECT_EQ(plan(two).footprint.cores, 64) << "binary kernels are placed on every core";
}

TEST_F(TileOps, OlderKernelsDealOutTheSideAlongWhichAnOperandIsRepeated) {
  EltwiseAttributes older = eltwise_of(Eltwise::add);
  older.older = true;
  const auto with = [&](const Shape& shape, const Shape& second) -> const PlannedProgram& {
    const ops::Tensor x = tensor(shape);
    return plan(make_program(older, {x, tensor(second)}, {x}));
  };
  const auto tile = [&](std::int64_t reads) {
    return reads * (profiles_.chip.noc_read_latency +
                    transfer_time(Bytes(2048), profiles_.chip.noc_link)) +
           profiles_.software.tiles.broadcast;
  };
  // A row: the 12 rows of tiles of a matrix are dealt out, of all four matrices.
  EXPECT_EQ(with({4, 384, 2304}, {1, 2304}).kernel.cores, 12);
  EXPECT_EQ(with({4, 384, 2304}, {1, 2304}).kernel.unshared -
                with({3, 384, 2304}, {1, 2304}).kernel.unshared,
            72 * tile(2));
  // A column: one column of tiles is one core's, however many rows there are.
  EXPECT_EQ(with({384, 768, 32}, {384, 768, 1}).kernel.cores, 1);
  EXPECT_EQ(with({384, 768, 32}, {384, 768, 1}).kernel.unshared -
                with({383, 768, 32}, {383, 768, 1}).kernel.unshared,
            24 * tile(2));
  // A number is read once, and all tiles are dealt out.
  EXPECT_EQ(with({384, 64}, {1, 1}).kernel.cores, 24);
  EXPECT_EQ(with({40, 384, 64}, {1, 1}).kernel.cores, 64);
  // Without a repeated side it is the usual kernel.
  const ops::Tensor x = tensor({384, 768});
  EXPECT_EQ(time(make_program(older, {x, x}, {x})),
            time(make_program(eltwise_of(Eltwise::add), {x, x}, {x})));
}

TEST_F(TileOps, AColumnIsReadOnceForARowOfTiles) {
  const ops::Tensor x = tensor({2048, 2048});
  const ops::Tensor column = tensor({2048, 1});
  const ops::Tensor row = tensor({1, 2048});
  EXPECT_LT(time(make_program(eltwise_of(Eltwise::add), {x, column}, {x})),
            time(make_program(eltwise_of(Eltwise::add), {x, row}, {x})));
}

TEST_F(TileOps, AScalarIsMadeATileOnce) {
  const ops::Tensor x = tensor({2048, 2048});
  const SimTime scalar = time(make_program(eltwise_of(Eltwise::multiply, 0.5F), {x}, {x}));
  const SimTime none = time(make_program(eltwise_of(Eltwise::square), {x}, {x}));
  const TileCosts& tiles = profiles_.software.tiles;
  EXPECT_EQ(scalar - none, 512 * tiles.store + tiles.multiply);
}

TEST_F(TileOps, EachFurtherOperandAndAMultiplicationTakeLongerToStart) {
  const ops::Tensor x = tensor({32, 32});
  const TileCosts& tiles = profiles_.software.tiles;
  const SimTime add = time(make_program(eltwise_of(Eltwise::add), {x, x}, {x}));
  const SimTime page = transfer_time(Bytes(2048), profiles_.chip.noc_link);
  EXPECT_EQ(add - time(make_program(eltwise_of(Eltwise::square), {x}, {x})), tiles.operand + page);
  EXPECT_EQ(time(make_program(eltwise_of(Eltwise::multiply), {x, x}, {x})) - add, tiles.multiply);
}

TEST_F(TileOps, FunctionsThatFollowSaveUnpackingAndPacking) {
  const TileCosts& tiles = profiles_.software.tiles;
  const auto math = [&](const EltwiseAttributes& attributes) {
    return eltwise_math_time(attributes, tiles);
  };
  const auto alone = [&](Eltwise function) {
    return tiles.functions.at(static_cast<std::size_t>(function));
  };
  EltwiseAttributes sum{.function = Eltwise::add, .scalar = {}, .core_grid = {}};
  const SimTime plain = math(sum);
  sum.then = {step_of(Eltwise::gelu)};
  EXPECT_EQ(math(sum), plain + alone(Eltwise::gelu) - alone(Eltwise::identity));
  sum.then = {step_of(Eltwise::relu)};
  EXPECT_EQ(math(sum), plain) << "the packer clips";
  sum.then = {step_of(Eltwise::relu), step_of(Eltwise::gelu)};
  EXPECT_GT(math(sum), plain + alone(Eltwise::gelu)) << "but not before another function";
  sum.then.clear();
  sum.on_b = {step_of(Eltwise::exp)};
  EXPECT_EQ(math(sum), plain + alone(Eltwise::exp) + tiles.operand_chain)
      << "unpacked and packed once more";
}

TEST_F(TileOps, AFillReadsNothing) {
  const ops::Tensor x = tensor({2048, 2048});
  EXPECT_EQ(plan(make_program(eltwise_of(Eltwise::fill, 1.0F), {}, {x})).kernel.dram,
            Bytes(4096 * 2048));
  EXPECT_LT(time(make_program(eltwise_of(Eltwise::fill, 1.0F), {}, {x})),
            time(make_program(eltwise_of(Eltwise::relu), {x}, {x})));
}

TEST_F(TileOps, ReductionsSplitWhatTheyKeep) {
  const ops::Tensor x = tensor({32 * 10, 32 * 20});
  const ops::Tensor wide = tensor({32 * 10, 1});
  const ops::Tensor tall = tensor({1, 32 * 20});
  EXPECT_EQ(plan(make_program(
                     ReduceAttributes{.reduction = Reduction::sum, .dimension = Dimension::columns},
                     {x}, {wide}))
                .kernel.cores,
            10);
  EXPECT_EQ(
      plan(make_program(ReduceAttributes{.reduction = Reduction::sum, .dimension = Dimension::rows},
                        {x}, {tall}))
          .kernel.cores,
      20);
  const ops::Tensor batch = tensor({4, 64, 64});
  const ops::Tensor one = tensor({64, 64});
  const PlannedProgram over_batch = plan(
      make_program(ReduceAttributes{.reduction = Reduction::sum, .dimension = Dimension::batch},
                   {batch}, {one}));
  EXPECT_EQ(over_batch.kernel.cores, 4);
  EXPECT_EQ(over_batch.kernel.dram, Bytes(16 * (2048 + 512)));
}

TEST_F(TileOps, ATransposeMovesEveryTileOnce) {
  const PlannedProgram planned =
      plan(make_program(TransposeAttributes{}, {tensor({1280, 640})}, {tensor({640, 1280})}));
  EXPECT_EQ(planned.kernel.dram, Bytes(2 * 800 * 2048));
  EXPECT_EQ(planned.kernel.bottleneck, Bottleneck::dram);
}

TEST_F(TileOps, WiderDataTakesLonger) {
  const auto square = [&](DataType dtype) {
    const ops::Tensor x = tensor({2048, 2048}, dtype);
    return time(make_program(eltwise_of(Eltwise::square), {x}, {x}));
  };
  EXPECT_LT(square(DataType::bfloat8_b), square(DataType::bfloat16));
  EXPECT_LT(square(DataType::bfloat16), square(DataType::float32));
}

TEST_F(TileOps, KernelsOfOneLaunchTakeTheirMathForEachTile) {
  EmulatedChip device(round_profiles(), {.dispatch = DispatchCoreType::eth});
  const ops::Tensor x(device, {{32, 32 * 65}});  // the busiest core has two tiles
  const auto expect = [&](const Program& program, std::int64_t nanoseconds, std::int64_t streams) {
    const PlannedProgram planned = device.explain(program);
    EXPECT_EQ(planned.kernel.total, ns(nanoseconds)) << program.name;
    EXPECT_EQ(planned.kernel.dram, Bytes(streams * 65 * 2048)) << program.name;
    EXPECT_EQ(planned.footprint.kernel_groups, 2) << program.name;
  };
  expect(make_program(DropoutAttributes{.probability = 0.1F, .seed = 1}, {x}, {x}),
         1000 + 200 + 2 * 710 + 300, 2);
  // Two tiles are read in one batch, 136 + 2 x 64.
  expect(make_program(GeluBackwardAttributes{.fused = /*fused=*/true}, {x, x}, {x}),
         1000 + 264 + 2 * 720 + 300, 3);
  const Program slopes = make_program(SwigluBackwardAttributes{}, {x, x, x}, {x, x});
  EXPECT_EQ(device.explain(slopes).kernel.dram, Bytes(5 * 65 * 2048)) << "each tensor once";
  EXPECT_GT(
      device.explain(slopes).kernel.total,
      device.explain(make_program(eltwise_of(Eltwise::silu_backward), {x, x}, {x})).kernel.total);
  // Four tiles are read in 392; of three that are written in 428 one is left at the end.
  expect(ops::adamw(x, x, {x, x}, {}), 1000 + 392 + 2 * 730 + 300, 7);
}

TEST_F(TileOps, EachOptionOfAdamWTakesItsOwnTensorsAndMath) {
  const ops::Tensor x = tensor({2048, 2048});
  const PlannedProgram plain = plan(ops::adamw(x, x, {x, x}, {}));
  const auto expect_more = [&](const Program& program, std::int64_t streams) {
    const PlannedProgram planned = plan(program);
    EXPECT_GT(planned.kernel.total, plain.kernel.total);
    EXPECT_EQ(planned.kernel.dram, plain.kernel.dram + Bytes(streams * 4096 * 2048));
  };
  expect_more(ops::adamw(x, x, {x, x, x, std::nullopt}, {.amsgrad = true}), 2);
  expect_more(ops::adamw(x, x, {x, x, std::nullopt, x}, {.kahan = true}), 2);
  AdamWAttributes rounds;
  rounds.rounding_seed = 5;
  expect_more(ops::adamw(x, x, {x, x}, rounds), 0);
  AdamWAttributes later = rounds;
  later.rounding_seed = 6;
  later.step = 9;
  EXPECT_EQ(timing_key(ops::adamw(x, x, {x, x}, rounds)).attributes,
            timing_key(ops::adamw(x, x, {x, x}, later)).attributes)
      << "what is drawn does not change the time";
}

TEST_F(TileOps, ACastReadsTilesOfOneTypeAndWritesTheOthers) {
  const ops::Tensor wide = tensor({2048, 2048}, DataType::float32);
  const ops::Tensor half = tensor({2048, 2048});
  EXPECT_EQ(plan(make_program(eltwise_of(Eltwise::cast), {wide}, {half})).kernel.dram,
            Bytes(4096 * (4096 + 2048)));
  EXPECT_EQ(plan(make_program(eltwise_of(Eltwise::cast), {half}, {wide})).kernel.dram,
            Bytes(4096 * (2048 + 4096)));
}

TEST_F(TileOps, MorehSumsSplitAsTtnnsOwn) {
  const ops::Tensor x = tensor({8192, 384});
  const ops::Tensor row = tensor({1, 384});
  EXPECT_EQ(
      time(make_program(
          ReduceAttributes{
              .reduction = Reduction::sum, .dimension = Dimension::rows, .moreh = /*moreh=*/true},
          {x}, {row})),
      time(make_program(ReduceAttributes{.reduction = Reduction::sum, .dimension = Dimension::rows},
                        {x}, {row})));
  EXPECT_EQ(plan(make_program(
                     ReduceAttributes{
                         .reduction = Reduction::sum, .dimension = Dimension::rows, .moreh = true},
                     {x}, {row}))
                .kernel.cores,
            12);
}

TEST_F(TileOps, AReductionOfOneOfTwoBatchDimensionsKeepsTheOther) {
  const ops::Tensor x = tensor({3, 4, 32, 32});
  const Program mean = make_program(
      ReduceAttributes{.reduction = Reduction::mean, .dimension = Dimension::all, .moreh = true},
      {x}, {tensor({1})});
  const auto launches = device_.launches(mean);
  EXPECT_EQ(launches[2].kernel.cores, 3) << "4x3 tiles to 3";
  EXPECT_EQ(launches[3].kernel.cores, 1);
}

/// More tiles never take much less time, on any op and any remainder of the split: a few more may
/// spread cores over the banks that marched in step.
TEST_F(TileOps, MoreTilesNeverTakeMuchLess) {
  for (const Eltwise function : {Eltwise::relu, Eltwise::exp, Eltwise::rsqrt}) {
    SimTime last;
    for (std::int64_t tiles = 1; tiles <= 800; ++tiles) {
      const SimTime now = time(unary(function, {32, 32 * tiles}));
      EXPECT_GE(now.seconds(), 0.93 * last.seconds()) << tiles;
      last = now;
    }
  }
  EXPECT_GT(time(unary(Eltwise::relu, {32, 32 * 768})), time(unary(Eltwise::relu, {32, 32 * 832})))
      << "12 tiles a core begin at one bank, 13 at all";
}

}  // namespace
}  // namespace howard::chip
