// SPDX-License-Identifier: Apache-2.0
//
// Expected times are worked out by hand from the constants of round_profiles.h. A row of tiles
// takes a step for each tile: the first takes all three stages, and the others take math, the
// slowest.
#include "engines/chip/kernels/rows/rows.h"

#include <gtest/gtest.h>

#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/lowering.h"
#include "engines/chip/kernels/planner.h"
#include "engines/ops/tensor.h"
#include "engines/ops/training.h"
#include "tests/engines/chip/round_profiles.h"

namespace howard::chip {
namespace {

class RowOps : public ::testing::Test {
 protected:
  ops::Tensor tensor(const Shape& shape) { return {device_, {shape}}; }
  ops::Tensor targets(const Shape& shape) {
    return {device_, {shape, DataType::uint32, Layout::row_major}};
  }
  const PlannedProgram& plan(const Program& program) { return device_.explain(program); }
  SimTime time(const Program& program) { return plan(program).kernel.total; }

  Program softmax(const Shape& shape) {
    return make_program(SoftmaxAttributes{}, {tensor(shape)}, {tensor(shape)});
  }
  Program ttml_layernorm(const ops::Tensor& x) {
    const Shape& shape = x.spec().shape;
    const ops::Tensor row = tensor({shape.columns()});
    const ops::Tensor column = tensor(shape.with_columns(1));
    return make_program(TtmlLayernormAttributes{.epsilon = 1e-5F}, {x, row, row},
                        {x, column, column});
  }

  EmulatedChip device_{round_profiles(), {.dispatch = DispatchCoreType::eth}};  // 64 cores
};

TEST_F(RowOps, SoftmaxPassesOverRowsOfTiles) {
  // There are 3 rows of 4 tiles, one a core: start 1000 and a tile of 512 stores, a row 70, read
  // 200, 4 x 500, write 300.
  const PlannedProgram planned = plan(softmax({96, 128}));
  EXPECT_EQ(planned.kernel.cores, 3);
  EXPECT_EQ(planned.kernel.total, ns(1000 + 512 * 2 + 70 + 200 + 4 * 500 + 300));
  // What fills up the last tile of a row is masked, and a RISC makes the mask.
  EXPECT_EQ(time(softmax({96, 99})) - planned.kernel.total, ns(9000 - 512 * 2));
  EXPECT_EQ(planned.kernel.dram, Bytes(2 * 12 * 2048));
  EXPECT_EQ(planned.footprint.kernel_groups, 1);
}

TEST_F(RowOps, SumsTakeOneColumnOfTilesAfterTheOtherAndReadL1WithItsOwnLatency) {
  const auto sum = [&](std::int64_t columns, Storage storage) {
    const ops::Tensor x(device_, {.shape = {96, columns}, .storage = storage});
    return time(make_program(ReduceAttributes{.dimension = Dimension::rows}, {x.operand()},
                             {tensor({1, columns}).operand()}));
  };
  // Three tiles are read, 200 ns each, the last one is added in 40, and the result written in 300.
  const SimTime column = ns(3 * 200 + 40 + 300);
  EXPECT_EQ(sum(32, Storage::dram), ns(1000) + column);
  EXPECT_EQ(sum(64 * 32, Storage::dram), ns(1000) + column);
  EXPECT_EQ(sum(130 * 32, Storage::dram), ns(1000) + 3 * column);
  const ChipProfile chip = round_profiles().chip;
  EXPECT_EQ(sum(32, Storage::dram) - sum(32, Storage::l1), 3 * (ns(136) - chip.l1_latency));
}

TEST_F(RowOps, ASoftmaxOfShardsReadsNothingAndHasThePassesThatItIsToldToHave) {
  Profiles profiles = round_profiles();
  profiles.software.attention.exp = ns(20);
  EmulatedChip chip(profiles, {.dispatch = DispatchCoreType::eth});
  const ops::Tensor x(chip, {.shape = {4, 64, 128},
                             .storage = Storage::l1,
                             .sharding = Sharding{ShardLayout::height, {4, 1}, 64, 128}});
  const auto time = [&](const SoftmaxAttributes& attributes) {
    return chip.explain(make_program(attributes, {x.operand()}, {x.operand()})).kernel.total;
  };
  // A core has two rows of 4 tiles; a tile of constants takes 512 stores.
  const SimTime start = ns(600 + 512 * 2 + 2 * 70);
  EXPECT_EQ(time({}), start + 8 * ns(4 * 100 + 100));
  EXPECT_EQ(time({.fp32_accumulation = false}), start + 8 * ns(4 * 30 + 100));
  EXPECT_EQ(time({.approximate = true}), start + 8 * ns(4 * 100 + 20));
  EXPECT_EQ(time({.stable = false}), start + 8 * ns(3 * 100 + 100));
  EXPECT_EQ(time({.masked = true}), start + 8 * ns(6 * 100 + 100));
  EXPECT_EQ(time({.stable = false, .masked = true}), start + 8 * ns(4 * 100 + 100));
}

TEST_F(RowOps, NormsOfShardsThatAddUpInBfloat16HaveShorterPassesAndASumIsOneMore) {
  const ops::Tensor x = tensor({32, 128});
  const auto time = [&](const auto& attributes) {
    return device_.explain(make_program(attributes, {x.operand()}, {x.operand()})).kernel.total;
  };
  using L = LayernormAttributes;
  EXPECT_EQ(time(L{}), time(L{.fp32_accumulation = false}));
  const ops::Tensor shards(device_, {.shape = {4, 64, 128},
                                     .storage = Storage::l1,
                                     .sharding = Sharding{ShardLayout::height, {4, 1}, 64, 128}});
  const auto on_shards = [&](bool fp32) {
    const L norm{.fp32_accumulation = fp32};
    return device_.explain(make_program(norm, {shards.operand()}, {shards.operand()})).kernel.total;
  };
  EXPECT_EQ(on_shards(true) - on_shards(false), 8 * 7 * ns(100 - 30));
  EXPECT_EQ(time(L{.sums = true}) - time(L{}), ns(4 * 100));
  using R = RmsNormAttributes;
  EXPECT_EQ(time(R{.sums = true}) - time(R{}), ns(4 * 100));
}

TEST_F(RowOps, ARowOfANormTakesMoreThanItsTilesUnlessItStaysInShards) {
  Profiles profiles = round_profiles();
  profiles.software.tiles.norm_row = ns(900);
  EmulatedChip chip(profiles, {.dispatch = DispatchCoreType::eth});
  const auto more = [&](const auto& attributes, TensorSpec spec) {
    const auto on = [&](EmulatedChip& device) {
      const ops::Tensor x(device, spec);
      return device.explain(make_program(attributes, {x.operand()}, {x.operand()})).kernel.total;
    };
    return on(chip) - on(device_);
  };
  // 130 rows on 64 cores: one has three.
  EXPECT_EQ(more(LayernormAttributes{}, {.shape = {130 * 32, 64}}), 3 * ns(900));
  EXPECT_EQ(more(RmsNormAttributes{}, {.shape = {130 * 32, 64}}), 3 * ns(450)) << "one sum";
  EXPECT_EQ(
      more(LayernormAttributes{}, {.shape = {4, 64, 128},
                                   .storage = Storage::l1,
                                   .sharding = Sharding{ShardLayout::height, {4, 1}, 64, 128}}),
      SimTime());
}

TEST_F(RowOps, ANormReadsRowsAgainThatAreTooLongForL1) {
  const auto dram = [&](const auto& attributes, std::int64_t tiles) {
    const ops::Tensor x = tensor({32, 32 * tiles});
    return plan(make_program(attributes, {x.operand()}, {x.operand()})).kernel.dram.value() /
           (tiles * 2048);
  };
  // With fp32 accumulation a tile of a row has 2 + 4 + 4 + 2 + 2 KiB.
  EXPECT_EQ(dram(LayernormAttributes{}, 90), 2) << "is read once and written";
  EXPECT_EQ(dram(LayernormAttributes{}, 110), 6) << "three times, with gamma and beta twice";
  EXPECT_EQ(dram(LayernormAttributes{.fp32_accumulation = false}, 110), 2);
  EXPECT_EQ(dram(RmsNormAttributes{}, 110), 2) << "ttnn has no other kernel before 2026";
  Profiles later = round_profiles();
  later.software.tiles.norm_rereads = true;
  const TensorSpec x{.shape = {32, 32 * 110}};
  EXPECT_EQ(plan_program(make_program(RmsNormAttributes{}, {x}, {x}), {8, 8}, later).kernel.dram,
            Bytes(3 * 110 * 2048));
  EXPECT_EQ(dram(RmsNormAttributes{.rereads = true}, 110), 3) << "squares, then the result";
  EXPECT_EQ(dram(RmsNormAttributes{.rereads = true}, 90), 2);
}

TEST_F(RowOps, RowsInL1AreReadWithItsOwnLatency) {
  const auto of = [&](Storage storage) {
    const ops::Tensor x(device_, {.shape = {96, 128}, .storage = storage});
    return plan(make_program(LayernormAttributes{}, {x.operand()}, {x.operand()}));
  };
  const ChipProfile chip = round_profiles().chip;
  // Math hides all but the first read and the last write.
  EXPECT_EQ(of(Storage::dram).kernel.total - of(Storage::l1).kernel.total,
            ns(136) + ns(236) - 2 * chip.l1_latency);
  EXPECT_EQ(of(Storage::l1).kernel.dram, Bytes());
}

TEST_F(RowOps, ACoreWithTwoRowsDecidesAndIsAGroupOfItsOwn) {
  const PlannedProgram planned = plan(softmax({65, 32, 128}));
  EXPECT_EQ(planned.kernel.cores, 64);
  EXPECT_EQ(planned.kernel.total, ns(1000 + 512 * 2 + 2 * 70 + 200 + 8 * 500 + 300));
  EXPECT_EQ(planned.footprint.kernel_groups, 2);
  EXPECT_EQ(plan(softmax({128, 32, 128})).footprint.kernel_groups, 1);
}

TEST_F(RowOps, SoftmaxBackwardReadsTwoTensors) {
  const ops::Tensor x = tensor({96, 128});
  // Two tiles in one batch: 136 + 2 x 64.
  EXPECT_EQ(time(make_program(SoftmaxBackwardAttributes{}, {x, x}, {x})),
            ns(1000 + 264 + 4 * 400 + 300));
  EXPECT_EQ(plan(make_program(SoftmaxBackwardAttributes{}, {x, x}, {x})).kernel.dram,
            Bytes(3 * 12 * 2048));
}

TEST_F(RowOps, LayernormThatKeepsItsStatisticsIsTtmls) {
  const ops::Tensor x = tensor({96, 128});
  EXPECT_EQ(time(make_program(LayernormAttributes{.epsilon = 1e-5F}, {x}, {x})),
            ns(1000 + 200 + 4 * 700 + 300));
  EXPECT_EQ(time(ttml_layernorm(x)), ns(1000 + 200 + 4 * 530 + 300));
}

TEST_F(RowOps, LayernormBackwardWritesThreeTensors) {
  const ops::Tensor x = tensor({96, 128});
  const ops::Tensor row = tensor({128});
  const ops::Tensor column = tensor({96, 1});
  const Program program =
      make_program(LayernormBackwardAttributes{}, {x, row, column, column, x}, {x, x, x});
  // The math of a tile, 2 x 530, hides the writing of three, but for one tile at the end.
  EXPECT_EQ(time(program), ns(1000 + 264 + 4 * 1060 + 300));
  EXPECT_EQ(plan(program).kernel.dram, Bytes(5 * 12 * 2048));
}

TEST_F(RowOps, CrossEntropyWritesATileARowAndItsBackwardARow) {
  const ops::Tensor logits = tensor({3, 32, 128});
  const ops::Tensor loss = tensor({3, 32, 1});
  const ops::Tensor positions = targets({3, 32});
  const PlannedProgram forward =
      plan(make_program(CrossEntropyAttributes{}, {logits, positions}, {loss}));
  EXPECT_EQ(forward.kernel.cores, 3);
  EXPECT_EQ(forward.kernel.dram, Bytes(12 * 2048 + 3 * 2048));
  // 32 targets are read one by one. A quarter of a tile a step: 59 + 16 at the end.
  EXPECT_EQ(forward.kernel.total, ns(1000 + 32 * 200 + 200 + 4 * 300 + 75));
  const Program backward =
      make_program(CrossEntropyBackwardAttributes{.scale = 1.0F}, {logits, positions}, {logits});
  EXPECT_EQ(time(backward), ns(1000 + 200 + 4 * 500 + 300));
  // A row of 2000 tiles is more than L1: each pass reads it.
  const ops::Tensor wide = tensor({32, 64000});
  const Bytes twice =
      plan(make_program(CrossEntropyAttributes{}, {wide, targets({32})}, {tensor({32, 1})}))
          .kernel.dram;
  EXPECT_GT(twice, Bytes(2 * 2000 * 2048));
  EXPECT_LT(twice, Bytes(2 * 2020 * 2048)) << "and a tile of losses";
  EXPECT_EQ(plan(make_program(CrossEntropyBackwardAttributes{.scale = 1.0F}, {wide, targets({32})},
                              {wide}))
                .kernel.dram,
            Bytes((3 + 1) * 2000 * 2048));
}

TEST_F(RowOps, NllReadsTheTilesOfItsTargetsAlone) {
  const ops::Tensor logarithms = tensor({3, 32, 128});
  const ops::Tensor loss = tensor({3, 32, 1});
  const ops::Tensor positions = targets({3, 32});
  const PlannedProgram forward = plan(
      make_program(CrossEntropyAttributes{.of_logarithms = true}, {logarithms, positions}, {loss}));
  EXPECT_EQ(forward.kernel.dram, Bytes(3 * 2048));
  EXPECT_LT(
      forward.kernel.total,
      time(make_program(CrossEntropyAttributes{}, {logarithms, positions}, {loss})) - ns(4 * 200));
  const Program backward =
      make_program(CrossEntropyBackwardAttributes{.scale = 1, .of_logarithms = true},
                   {logarithms, positions}, {logarithms});
  EXPECT_EQ(plan(backward).kernel.dram, Bytes(12 * 2048));
  EXPECT_LT(time(backward), time(make_program(CrossEntropyBackwardAttributes{.scale = 1},
                                              {logarithms, positions}, {logarithms})));
}

TEST_F(RowOps, MoreRowsOrLongerOnesNeverTakeLess) {
  SimTime last;
  for (std::int64_t rows = 1; rows <= 200; ++rows) {
    const SimTime now = time(softmax({32 * rows, 96}));
    EXPECT_GE(now, last) << rows;
    EXPECT_LT(now, time(softmax({32 * rows, 128}))) << rows;
    last = now;
  }
}

TEST_F(RowOps, SgdHasAPassMoreForDecayMomentumAndNesterov) {
  const ops::Tensor x = tensor({96, 128});
  // Writing a tile, 300, hides two passes.
  EXPECT_EQ(time(ops::sgd(x, x, {}, {})), ns(1000 + 264 + 3 * 300 + 200 + 300));
  EXPECT_EQ(plan(ops::sgd(x, x, {}, {})).kernel.dram, Bytes(3 * 12 * 2048));
  const SgdAttributes all{.momentum = 0.9F, .weight_decay = 0.1F, .nesterov = true};
  EXPECT_EQ(time(ops::sgd(x, x, x, all)), ns(1000 + 328 + 4 * 500 + 300));
  EXPECT_EQ(plan(ops::sgd(x, x, x, all)).kernel.dram, Bytes(5 * 12 * 2048));
  SgdAttributes other = all;
  other.learning_rate = other.momentum = 0.5F;
  EXPECT_EQ(timing_key(ops::sgd(x, x, x, other)).attributes,
            timing_key(ops::sgd(x, x, x, all)).attributes);
}

}  // namespace
}  // namespace howard::chip
