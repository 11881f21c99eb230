// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/matmul/matmul_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/engines/chip/round_profiles.h"

namespace howard::chip {
namespace {

const Profiles& profiles() {
  static const Profiles kBuiltIn = load_profiles();
  return kBuiltIn;
}

MatmulPlan plan(const MatmulProblem& problem, CoreGrid grid = {8, 7}) {
  return plan_matmul(problem, grid, profiles().chip.l1_circular_buffers);
}

MatmulCost cost(const MatmulPlan& plan, const Profiles& with = profiles()) {
  return matmul_cost(plan, with);
}

/// Returns sizes that reach every kind of plan: aligned and prime shares, strips, one tile,
/// batches.
std::vector<MatmulProblem> problems() {
  std::vector<MatmulProblem> result;
  for (const std::int64_t m : {1, 4, 16, 33, 64, 128}) {
    for (const std::int64_t k : {1, 2, 8, 32, 127}) {
      for (const std::int64_t n : {1, 8, 32, 96, 128}) {
        for (const DataType dtype :
             {DataType::bfloat16, DataType::float32, DataType::bfloat8_b, DataType::bfloat4_b}) {
          result.push_back({.m = m, .k = k, .n = n, .types = MatmulTypes::all(dtype)});
          result.push_back({.m = m,
                            .k = k,
                            .n = n,
                            .types = MatmulTypes::all(dtype),
                            .core_grid = CoreGrid{4, 7}});
          result.push_back({.batch = 3, .m = m, .k = k, .n = n, .types = MatmulTypes::all(dtype)});
          result.push_back({.batch = 130,
                            .batched_b = true,
                            .m = m,
                            .k = k,
                            .n = n,
                            .types = MatmulTypes::all(dtype),
                            .core_grid = CoreGrid{8, 7}});
          result.push_back({.m = m,
                            .k = k,
                            .n = n,
                            .types = MatmulTypes::all(dtype),
                            .transposed_b = true,
                            .bias = true});
        }
      }
    }
  }
  return result;
}

/// Steps through the recurrence that the closed form claims to solve. There are two buffers for
/// each input and one for the output, the writer's RISC reads B, and all RISCs start each product
/// of a batch anew.
SimTime simulate(const MatmulCost& stages) {
  const std::int64_t k_steps = stages.steps / stages.output_blocks;
  SimTime in0_ready, in1_ready, computed, computed_before, drained;
  const std::int64_t blocks = stages.output_blocks / stages.products;
  for (std::int64_t block = 0; block < stages.output_blocks; ++block) {
    if (block > 0 && block % blocks == 0) {
      for (SimTime* time : {&in0_ready, &in1_ready, &computed, &computed_before, &drained}) {
        *time += stages.restart;
      }
    }
    for (std::int64_t step = 0; step < k_steps; ++step) {
      const SimTime output_free = step == 0 ? drained : SimTime();
      in0_ready = std::max(in0_ready, computed_before) + stages.in0_load;
      in1_ready = std::max({in1_ready, computed_before, output_free}) + stages.in1_load;
      computed_before = computed;
      computed = std::max({computed, in0_ready, in1_ready, output_free}) + stages.compute;
    }
    drained = computed + stages.output_exposed;
  }
  return profiles().software.matmul_start + drained;
}

TEST(MatmulCost, ClosedFormEqualsTheRecurrenceToThePicosecond) {
  for (const MatmulProblem& problem : problems()) {
    const MatmulPlan p = plan(problem);
    const MatmulCost c = cost(p);
    EXPECT_EQ(c.kernel.total.ps(), simulate(c).ps()) << p.text();
  }
}

TEST(MatmulCost, NeverFasterThanTheRoofline) {
  const ChipProfile& chip = profiles().chip;
  const double dram = static_cast<double>((chip.dram_read_noc0 + chip.dram_read_noc1).value());
  for (const MatmulProblem& problem : problems()) {
    const MatmulPlan p = plan(problem);
    const double tile_products =
        static_cast<double>(problem.batch * problem.m * problem.k * problem.n);
    const double math = tile_products * 2 * 32 * 32 * 32 /
                        chip.peak_flops(static_cast<int>(p.active_cores()), p.fidelity);
    const double inputs =
        static_cast<double>(((problem.batch * problem.m * problem.k + problem.k * problem.n) *
                             tile_bytes(problem.types.out))
                                .value());
    EXPECT_GE(cost(p).kernel.total.seconds(), math) << p.text();
    EXPECT_GE(cost(p).kernel.total.seconds(), inputs / dram) << p.text();
  }
}

TEST(MatmulCost, MoreWorkOfOneConfigurationTakesLonger) {
  for (const MatmulProblem& problem : problems()) {
    const MatmulPlan p = plan(problem);
    MatmulPlan deeper = p;
    // As many steps as there are banks: the tiles of A then lie in the same banks as before.
    deeper.k += profiles().chip.dram_banks * p.config.in0_block_w;
    EXPECT_GT(cost(deeper).kernel.total, cost(p).kernel.total) << p.text();
    MatmulPlan finer = p;
    finer.fidelity = MathFidelity::hifi4;
    EXPECT_GE(cost(finer).kernel.total, cost(p).kernel.total) << p.text();
    MatmulPlan repeated = p;
    repeated.batch += p.config.kind == MatmulKind::reuse ? p.active_cores() : 1;
    EXPECT_GT(cost(repeated).kernel.total, cost(p).kernel.total) << p.text();
  }
}

TEST(MatmulCost, AFasterChipIsNeverSlower) {
  const auto faster = [](auto change) {
    Profiles copy = profiles();
    change(copy);
    return copy;
  };
  const std::vector<Profiles> better{
      faster([](Profiles& p) { p.chip.dram_read_noc0 = p.chip.dram_read_noc0 * 2; }),
      faster([](Profiles& p) { p.chip.dram_read_noc1 = p.chip.dram_read_noc1 * 2; }),
      faster([](Profiles& p) { p.chip.dram_write_noc0 = p.chip.dram_write_noc0 * 2; }),
      faster([](Profiles& p) { p.chip.dram_write_noc1 = p.chip.dram_write_noc1 * 2; }),
      faster([](Profiles& p) { p.chip.noc_multicast = p.chip.noc_multicast * 2; }),
      faster([](Profiles& p) { p.chip.noc_link = p.chip.noc_link * 2; }),
      faster([](Profiles& p) { p.chip.unpack = p.chip.unpack * 2; }),
      faster([](Profiles& p) { p.software.noc_read_issue = SimTime::nanoseconds(10); }),
  };
  const std::vector<MatmulProblem> all = problems();
  for (const Profiles& with : better) {
    bool ever_faster = false;
    for (const MatmulProblem& problem : all) {
      const MatmulPlan p = plan(problem);
      EXPECT_LE(cost(p, with).kernel.total, cost(p).kernel.total) << p.text();
      ever_faster = ever_faster || cost(p, with).kernel.total < cost(p).kernel.total;
    }
    EXPECT_TRUE(ever_faster) << "a constant that nothing depends on";
  }
}

TEST(MatmulCost, PointsInTimeAreOrdered) {
  for (const MatmulProblem& problem : problems()) {
    const MatmulPlan p = plan(problem);
    const MatmulCost c = cost(p);
    EXPECT_LT(SimTime(), c.kernel.compute_start) << p.text();
    EXPECT_LE(c.kernel.compute_start, c.kernel.reads_end) << p.text();
    EXPECT_LT(c.kernel.reads_end, c.kernel.math_end) << p.text();
    EXPECT_LE(c.kernel.compute_start, c.kernel.first_write) << p.text();
    EXPECT_LT(c.kernel.first_write, c.kernel.total) << p.text();
    EXPECT_LT(c.kernel.math_end, c.kernel.total) << p.text();
  }
}

TEST(MatmulCost, ReadingASixteenTimesMakesTheCliff) {
  const MatmulProblem square{.m = 128, .k = 128, .n = 128};
  const MatmulCost worker = cost(plan(square, {8, 7}));
  const MatmulCost eth = cost(plan(square, {8, 8}));
  const double ratio = worker.kernel.total.seconds() / eth.kernel.total.seconds();
  EXPECT_GT(ratio, 4.5);
  EXPECT_LT(ratio, 6.0);
  EXPECT_EQ(worker.kernel.bottleneck, Bottleneck::in0_reads);
  // The same work with 18 tile rows a core has no cliff at all.
  const MatmulCost aligned = cost(plan({.m = 126, .k = 128, .n = 128}, {8, 7}));
  EXPECT_LT(aligned.kernel.total.seconds(), 1.5 * eth.kernel.total.seconds());
}

/// Returns 192 products of 8x2 by 2x8 tiles, of which the busiest of 56 cores has 4.
MatmulProblem reuse_problem() {
  return {.batch = 192,
          .batched_b = true,
          .m = 8,
          .k = 2,
          .n = 8,
          .core_grid = CoreGrid{8, 7},
          .compute = {.fidelity = MathFidelity::hifi4}};
}

TEST(MatmulCost, CoresWithProductsOfTheirOwnReadAndWriteForThemselves) {
  const MatmulPlan p = plan(reuse_problem());
  ASSERT_EQ(p.config.kind, MatmulKind::reuse);
  const Profiles round = round_profiles();
  const MatmulCost c = cost(p, round);
  // A step is a column of A and a row of B, 8 tiles of 64 ns each, without a multicast.
  EXPECT_EQ(c.in0_load, ns(136 + 8 * 64));
  EXPECT_EQ(c.in1_load, ns(136 + 8 * 64));
  EXPECT_EQ(c.steps, 4 * 2);
  EXPECT_EQ(c.output_drain, ns(64 * 64 + 8 * 236)) << "64 tiles, 8 sub-blocks";
  EXPECT_EQ(c.restart, round.software.matmul_next_product);
  EXPECT_EQ(c.kernel.dram, Bytes(192 * (2 * 16 + 64) * 2048));
  EXPECT_EQ(c.kernel.cores, 56);
}

TEST(MatmulCost, CoresWithProductsOfTheirOwnReadBAndWriteOverNoc1) {
  const MatmulPlan p = plan(reuse_problem());
  Profiles round = round_profiles();
  const MatmulCost before = cost(p, round);
  round.chip.dram_read_noc0 = Bandwidth(56'000'000'000);  // a tile of each core takes 2048 ns
  EXPECT_EQ(cost(p, round).in0_load, ns(136 + 8 * 2048));
  EXPECT_EQ(cost(p, round).in1_load, before.in1_load);
  round = round_profiles();
  round.chip.dram_read_noc1 = round.chip.dram_write_noc1 = Bandwidth(56'000'000'000);
  EXPECT_EQ(cost(p, round).in0_load, before.in0_load);
  EXPECT_EQ(cost(p, round).in1_load, ns(136 + 8 * 2048));
  EXPECT_EQ(cost(p, round).output_drain, ns(64 * 2048));
}

TEST(MatmulCost, ResultsInTheL1OfAllCoresWaitForWhatTheseTakeTogether) {
  MatmulProblem problem = reuse_problem();
  problem.out = Storage::l1;
  const MatmulPlan p = plan(problem);
  Profiles round = round_profiles();
  const SimTime alone = cost(p, round).output_drain;
  round.chip.l1_spread_write = Bandwidth(56'000'000'000);  // a tile of each core takes 2048 ns
  EXPECT_EQ(cost(p, round).output_drain, ns(64 * 2048));
  EXPECT_LT(alone, ns(64 * 2048));
  MatmulPlan in_dram = plan(reuse_problem());
  EXPECT_EQ(cost(in_dram, round).output_drain, cost(in_dram, round_profiles()).output_drain);
}

TEST(MatmulCost, OperandsInTheL1OfAllCoresAreReadAsFastAsTheseGiveThem) {
  MatmulProblem problem = reuse_problem();
  problem.in0 = Storage::l1;
  const MatmulPlan p = plan(problem);
  Profiles round = round_profiles();
  const SimTime latency = round.chip.l1_latency;
  EXPECT_EQ(cost(p, round).in0_load, latency + ns(8 * 64)) << "a core's own port";
  round.chip.l1_spread_read = Bandwidth(56'000'000'000);  // a tile of each core takes 2048 ns
  EXPECT_EQ(cost(p, round).in0_load, latency + ns(8 * 2048));
  EXPECT_EQ(cost(p, round).in1_load, ns(136 + 8 * 64)) << "is in DRAM";
}

TEST(MatmulCost, AFurtherProductOfABatchCostsMoreWithAMulticast) {
  const auto restart = [](const MatmulProblem& problem) { return cost(plan(problem)).restart; };
  const SoftwareProfile& software = profiles().software;
  EXPECT_EQ(restart({.batch = 20, .m = 1, .k = 2, .n = 1}), software.matmul_next_product);
  EXPECT_EQ(restart({.batch = 20, .m = 1, .k = 1, .n = 2}),
            software.matmul_next_product + software.matmul_next_multicast_product);
  EXPECT_EQ(restart(reuse_problem()), software.matmul_next_product);
}

TEST(MatmulCost, ATransposedBUnpacksSlowerUnlessASubBlockReusesItEnough) {
  MatmulPlan p = plan({.m = 32, .k = 32, .n = 32});
  p.fidelity = MathFidelity::lofi;
  p.config.out_block_h = p.config.out_block_w = p.config.per_core_m = p.config.per_core_n = 8;
  const auto compute = [&](std::int64_t h, std::int64_t w, bool transposed) {
    p.config.subblock_h = h;
    p.config.subblock_w = w;
    p.problem.transposed_b = transposed;
    return cost(p).compute;
  };
  EXPECT_EQ(compute(4, 2, true), compute(4, 2, false)) << "2/4 + 1/2 tiles, less than 5/4";
  // With 1x8 it is 2 + 1/8 tiles a product instead of 9/8; a tile unpacks in 32 ns.
  EXPECT_EQ(compute(1, 8, true) - compute(1, 8, false), 64 * p.config.in0_block_w * ns(32));
}

TEST(MatmulCost, EachCoreTransposesTheTilesOfATransposedAThatItGets) {
  Profiles round = round_profiles();
  round.software.tiles.transpose = ns(70);
  for (const MatmulProblem& problem :
       {MatmulProblem{.m = 32, .k = 32, .n = 32}, MatmulProblem{.m = 256, .k = 16, .n = 8}}) {
    const MatmulPlan stored = plan(problem);
    MatmulPlan transposed = stored;
    transposed.problem.transposed_a = true;
    EXPECT_EQ(cost(transposed, round).compute - cost(stored, round).compute,
              stored.config.out_block_h * stored.config.in0_block_w * ns(70));
  }
}

TEST(MatmulCost, PartialSumsThatThePackerDoesNotAddGoToL1AndComeBackInEachStepButOne) {
  Profiles round = round_profiles();
  round.software.matmul_reload = ns(120);
  MatmulPlan p = plan({.m = 32, .k = 32, .n = 32, .compute = {.fidelity = MathFidelity::hifi4}});
  ASSERT_EQ(p.config.out_block_h * p.config.out_block_w, 20);
  ASSERT_EQ(p.config.subblock_h * p.config.subblock_w, 5);
  ASSERT_EQ(p.k_blocks(), 8);
  const auto spilled = [&] {
    MatmulPlan kept = p;
    kept.packer_accumulates = true;
    p.packer_accumulates = false;
    return cost(p, round).compute - cost(kept, round).compute;
  };
  // A tile takes 25 ns either way, and five of them share 120 ns.
  EXPECT_EQ(spilled(), 20 * SimTime::picoseconds(74'000 * 7 / 8));
  p.fp32_accumulation = true;
  EXPECT_EQ(spilled(), 20 * SimTime::picoseconds(124'000 * 7 / 8));
  p.config.in0_block_w = 32;
  EXPECT_EQ(spilled(), SimTime()) << "the only step has nothing to load";
}

TEST(MatmulCost, OperandsThatDoNotShareTheirWayAreUnpackedSideBySide) {
  MatmulPlan p = plan({.m = 32, .k = 32, .n = 32});
  p.fidelity = MathFidelity::lofi;
  p.config.out_block_h = p.config.out_block_w = p.config.per_core_m = p.config.per_core_n = 8;
  p.config.subblock_h = 4;
  p.config.subblock_w = 2;
  Profiles apart = profiles();
  apart.chip.unpackers_share = false;
  // A tile takes 32 ns. Together they are 5/4 tiles a product, apart the longer one is one tile.
  EXPECT_EQ(cost(p).compute - cost(p, apart).compute, 64 * p.config.in0_block_w * ns(8));
}

TEST(MatmulCost, ABiasIsAddedToAnOutputBlockBeforeItLeaves) {
  const Profiles round = round_profiles();
  const MatmulProblem without{.m = 32, .k = 32, .n = 32};
  MatmulProblem with = without;
  with.bias = true;
  const MatmulCost c = cost(plan(with), round);
  const MatmulCost none = cost(plan(without), round);
  // A core has 5x4 tiles in 4 sub-blocks of 5x1; two tiles unpack in 50 ns.
  const SimTime add = 20 * (ns(50) + round.software.matmul_output_tile);
  EXPECT_EQ(c.bias, add);
  EXPECT_EQ(c.output_drain, none.output_drain);
  EXPECT_EQ(c.output_exposed - add,
            std::max(SimTime::picoseconds(c.output_drain.ps() / 4),
                     c.output_drain - SimTime::picoseconds(add.ps() * 3 / 4)));
  EXPECT_GT(c.kernel.total, none.kernel.total);
  // A row of float32 takes twice as long to unpack, and the partial sums as long as before.
  MatmulProblem wide = with;
  wide.types.bias = DataType::float32;
  EXPECT_EQ(cost(plan(wide), round).bias, add + 20 * ns(25));
}

TEST(MatmulCost, WeightsInABlockFormatHelpWhereTheyAreReadAllTheTime) {
  // A tile row of A by wide weights, in HiFi2: every core waits for its columns of B.
  MatmulProblem problem{.m = 1, .k = 64, .n = 224};
  const MatmulCost wide = cost(plan(problem));
  ASSERT_EQ(wide.kernel.bottleneck, Bottleneck::in1_reads);
  problem.types.b = DataType::bfloat8_b;
  const MatmulCost narrow = cost(plan(problem));
  EXPECT_LT(narrow.kernel.total.ps(), 70 * wide.kernel.total.ps() / 100);
  EXPECT_EQ(narrow.in0_load, wide.in0_load) << "A is what it was";
  EXPECT_EQ(narrow.output_drain, wide.output_drain) << "and the result";
  // B is read once; the rest of the traffic stays.
  EXPECT_EQ(wide.kernel.dram - narrow.kernel.dram, 64 * 224 * Bytes(2048 - 1088));
}

TEST(MatmulCost, OperandsAreUnpackedInTheirOwnTypes) {
  // A wide sub-block keeps a tile of A and streams B's, a high one the other way round.
  const Profiles round = round_profiles();
  MatmulPlan p = plan({.m = 32, .k = 32, .n = 32}, {8, 8});
  p.fidelity = MathFidelity::lofi;  // bound by unpacking
  const auto compute = [&](std::int64_t h, std::int64_t w, MatmulTypes types) {
    p.config.subblock_h = h;
    p.config.subblock_w = w;
    p.problem.types = types;
    return cost(p, round).compute;
  };
  constexpr auto kWide = DataType::float32, kNarrow = DataType::bfloat16;
  const MatmulTypes wide_a{kWide, kNarrow, kNarrow}, wide_b{kNarrow, kWide, kNarrow};
  EXPECT_EQ(compute(1, 4, wide_a), compute(4, 1, wide_b)) << "the wide one is kept";
  EXPECT_EQ(compute(1, 4, wide_b), compute(4, 1, wide_a)) << "the wide one is streamed";
  EXPECT_LT(compute(1, 4, wide_a), compute(1, 4, wide_b));
}

TEST(MatmulCost, AnActivationTakesTheVectorUnitForEachTileOfTheResult) {
  MatmulProblem problem{.m = 32, .k = 32, .n = 32, .core_grid = CoreGrid{8, 7}};
  const MatmulCost none = cost(plan(problem));
  problem.activation = Eltwise::gelu;
  const MatmulPlan gelu = plan(problem);
  const TileCosts& tiles = profiles().software.tiles;
  const auto of = [&](Eltwise function) {
    return tiles.functions.at(static_cast<std::size_t>(function));
  };
  EXPECT_EQ(cost(gelu).activation, gelu.config.out_block_h * gelu.config.out_block_w *
                                       (of(Eltwise::gelu) - of(Eltwise::identity)));
  EXPECT_GT(cost(gelu).kernel.total, none.kernel.total);
  problem.activation = Eltwise::relu;
  EXPECT_EQ(cost(plan(problem)).kernel.total, none.kernel.total) << "the packer clips";
}

TEST(MatmulCost, DramTrafficCountsRepeatedReads) {
  // This is 4096 cubed on 8x7: A is read once for each of 16 strips, B once, and C is written once.
  const MatmulPlan p = plan({.m = 128, .k = 128, .n = 128}, {8, 7});
  const std::int64_t tiles = 7 * 19 * 128 * 16 + 128 * 128 + 7 * 19 * 128;
  EXPECT_EQ(cost(p).kernel.dram, tiles * tile_bytes(DataType::bfloat16));
}

TEST(MatmulCost, KernelGroupsFollowTheRolesOfCores) {
  const auto groups = [](const MatmulProblem& problem) {
    return matmul_footprint(plan(problem), profiles().software).kernel_groups;
  };
  EXPECT_EQ(groups({.m = 32, .k = 32, .n = 32}), 5) << "corner, column, row, two halves";
  EXPECT_EQ(groups({.m = 16, .k = 32, .n = 32}), 2) << "1D: a sender and receivers";
  EXPECT_EQ(groups({.m = 1, .k = 1, .n = 1}), 1);
  EXPECT_EQ(groups(reuse_problem()), 2) << "cores with 4 products and with 3";
}

TEST(MatmulCost, BottleneckNamesTheLongestStage) {
  Profiles slow_writes = profiles();
  slow_writes.chip.dram_write_noc0 = Bandwidth(1'000'000'000);
  const MatmulPlan p = plan({.m = 32, .k = 8, .n = 32});
  EXPECT_EQ(cost(p, slow_writes).kernel.bottleneck, Bottleneck::output_writes);
  Profiles slow_math = profiles();
  slow_math.chip.matrix_flops_per_cycle = 8;
  EXPECT_EQ(cost(p, slow_math).kernel.bottleneck, Bottleneck::math);
}

TEST(MatmulCost, ARowOfCoresSendsNothingDownItsColumns) {
  MatmulProblem problem{.m = 1, .k = 4, .n = 8};
  problem.config = parse_matmul_config("2d:grid=8x1:per_core=1x1:in0_block_w=1");
  const MatmulPlan row = plan(problem);
  Profiles fast = profiles();
  fast.chip.noc_multicast = fast.chip.noc_multicast * 2;
  EXPECT_EQ(cost(row).in1_load, cost(row, fast).in1_load);
  EXPECT_GT(cost(row).in0_load, cost(row, fast).in0_load) << "A goes along the row";
}

/// ttnn reads weights whose columns lie over the banks bank by bank, and works out no address for
/// each tile: small tiles wait less for the core that asks for them.
TEST(MatmulCost, WeightsInBanksAreAskedForFaster) {
  const auto load_of = [](DataType weights, bool in_banks) {
    MatmulProblem problem{.m = 4,
                          .k = 128,
                          .n = 448,
                          .types = {DataType::bfloat16, weights, DataType::bfloat16},
                          .config = MatmulConfig{.kind = MatmulKind::multicast_2d,
                                                 .grid = {8, 8},
                                                 .per_core_m = 1,
                                                 .per_core_n = 56,
                                                 .in0_block_w = 8,
                                                 .out_block_h = 1,
                                                 .out_block_w = 56}};
    if (in_banks) {
      problem.in1_shards = Sharding{
          .layout = ShardLayout::width, .grid = {12, 1}, .rows = 128 * 32, .columns = 38 * 32};
    }
    return cost(plan(problem, {8, 8})).in1_load;
  };
  // A tile of bfloat4_b takes 37 cycles to be asked for, and else 63.
  const SimTime saved = load_of(DataType::bfloat4_b, false) - load_of(DataType::bfloat4_b, true);
  EXPECT_EQ(saved, 448 * SimTime::nanoseconds(63 - 37));
  // One of bfloat16 waits for its bank, which the core has almost for itself.
  EXPECT_NEAR((load_of(DataType::bfloat16, true) - load_of(DataType::bfloat16, false)).seconds(),
              448 * 2048 * (12 / (0.97 * 267e9) - 8 / (0.711610486891 * 267e9)), 1e-8);
}

}  // namespace
}  // namespace howard::chip
