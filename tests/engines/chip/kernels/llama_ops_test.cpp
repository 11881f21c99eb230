// SPDX-License-Identifier: Apache-2.0
//
// minimal_matmul, attention and the ops that move parts of tensors.
#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/lowering.h"
#include "engines/chip/kernels/planner.h"
#include "engines/ops/tensor.h"
#include "tests/engines/chip/round_profiles.h"

namespace howard::chip {
namespace {

class LlamaOps : public ::testing::Test {
 protected:
  ops::Tensor tensor(const Shape& shape) { return {device_, {.shape = shape}}; }
  const PlannedProgram& plan(const Program& program) { return device_.explain(program); }
  SimTime time(const Program& program) { return plan(program).kernel.total; }
  std::size_t launches(const Program& program) {
    return lower(program, {8, 8}, round_profiles()).size();
  }

  Program minimal(std::int64_t m, std::int64_t k, std::int64_t n,
                  const MinimalMatmulAttributes& attributes = {}) {
    return make_program(attributes, {tensor({m, k}), tensor({k, n})}, {tensor({m, n})});
  }
  Program attention(const Shape& q, const AttentionAttributes& attributes) {
    const ops::Tensor x = tensor(q);
    return make_program(attributes, {x, x, x}, {x});
  }

  EmulatedChip device_{round_profiles(), {.dispatch = DispatchCoreType::eth}};  // 64 cores
};

TEST_F(LlamaOps, MinimalMatmulReadsEachOperandOnceForItsLineOfCores) {
  // A tile row of A for each of 8 rows of cores, and 5 columns of tiles for each of 8 columns: the
  // padded rows run as well, and one of a line reads for all.
  const PlannedProgram planned = plan(minimal(32, 1280, 1280));
  EXPECT_EQ(planned.kernel.cores, 64);
  EXPECT_EQ(planned.kernel.dram, Bytes((8 * 40 + 40 * 40 + 40) * 2048));
}

TEST_F(LlamaOps, MinimalMatmulIsAChain) {
  // More rows of cores do not make it faster, as each block goes through all of them.
  const SimTime whole = time(minimal(32, 1280, 1280));
  const SimTime half = time(minimal(32, 1280, 1280, {.core_grid = CoreGrid{8, 4}}));
  EXPECT_LT(half, whole);
  // Four hops of 40 tiles and a handshake each, at least.
  EXPECT_GE(whole - half, 4 * (40 * ns(64)));
  const SimTime longer = time(minimal(32, 2560, 1280));
  EXPECT_GT(longer, whole);
  EXPECT_LT(longer, 2 * whole);
}

TEST_F(LlamaOps, MinimalMatmulReadsItsWeightsInTheirOwnType) {
  Program program = minimal(32, 1280, 5120);
  const PlannedProgram wide = plan(program);
  program.inputs[1].spec.dtype = DataType::bfloat8_b;
  const PlannedProgram narrow = plan(program);
  EXPECT_LT(narrow.kernel.total, wide.kernel.total);
  EXPECT_EQ(wide.kernel.dram - narrow.kernel.dram, 40 * 160 * Bytes(2048 - 1088));
}

TEST_F(LlamaOps, MinimalMatmulAppliesAnActivationAsItCopiesTheResult) {
  const Profiles& round = round_profiles();
  const auto of = [&](Eltwise function) {
    return round.software.tiles.functions.at(static_cast<std::size_t>(function));
  };
  const SimTime plain = time(minimal(32, 1280, 1280));
  const SimTime gelu = time(minimal(32, 1280, 1280, {.activation = step_of(Eltwise::gelu)}));
  // Five tiles of the result on each core.
  EXPECT_EQ(gelu - plain, 5 * (of(Eltwise::gelu) - of(Eltwise::identity)));
}

TEST_F(LlamaOps, MinimalMatmulIsBoundByMathWhereFidelityIsHighAndBlocksAreLarge) {
  const MinimalMatmulAttributes high{.compute = {.fidelity = MathFidelity::hifi4}};
  EXPECT_EQ(plan(minimal(4096, 2048, 4096, high)).kernel.bottleneck, Bottleneck::math);
  EXPECT_EQ(plan(minimal(32, 2048, 4096)).kernel.bottleneck, Bottleneck::in1_reads);
  EXPECT_EQ(plan(minimal(4096, 2048, 32)).kernel.bottleneck, Bottleneck::in0_reads);
}

TEST_F(LlamaOps, MinimalMatmulUnpacksItsOperandsAsOtherProductsDo) {
  // 16x16 tiles a core: with sub-blocks of one tile, two are unpacked for each product.
  const auto product = [&](std::int64_t h, std::int64_t w, MathFidelity fidelity) {
    return plan(minimal(4096, 2048, 4096,
                        {.subblock_h = h, .subblock_w = w, .compute = {.fidelity = fidelity}}))
        .kernel;
  };
  const KernelCost single = product(1, 1, MathFidelity::lofi);
  const KernelCost wide = product(2, 4, MathFidelity::lofi);
  EXPECT_EQ(single.bottleneck, Bottleneck::unpack);
  EXPECT_GT(single.total, wide.total);
  EXPECT_EQ(product(4, 2, MathFidelity::lofi).total, wide.total);
  // A tile unpacks in 25 ns: HiFi4 takes longer than two of them, whatever the sub-block.
  EXPECT_EQ(product(1, 1, MathFidelity::hifi4).total, product(2, 4, MathFidelity::hifi4).total);
}

TEST_F(LlamaOps, MinimalMatmulHasABiasOfItsOwnType) {
  const ops::Tensor out = tensor({32, 1280});
  const auto with = [&](DataType type) {
    const ops::Tensor bias(device_, {.shape = {1280}, .dtype = type});
    return time(make_program(MinimalMatmulAttributes{},
                             {tensor({32, 1280}), tensor({1280, 1280}), bias}, {out}));
  };
  // Five tiles of the result on each core; a tile unpacks in 25 ns.
  EXPECT_EQ(with(DataType::bfloat16) - time(minimal(32, 1280, 1280)), 5 * ns(25));
  EXPECT_EQ(with(DataType::float32) - with(DataType::bfloat16), 5 * ns(25));
}

TEST_F(LlamaOps, MinimalMatmulNeedsTwoByTwoCoresAndWholeSubBlocks) {
  EXPECT_THROW(plan(minimal(64, 64, 64, {.core_grid = CoreGrid{8, 1}})), Error);
  EXPECT_THROW(minimal(64, 64, 64, {.block_m = 3, .subblock_h = 2}), Error);
  EXPECT_THROW(minimal(64, 64, 64, {.block_k = 0}), Error);
  EXPECT_THROW(make_program(MinimalMatmulAttributes{}, {tensor({64, 64}), tensor({2, 64, 64})},
                            {tensor({64, 64})}),
               Error);
}

TEST_F(LlamaOps, AttentionIsDealtOutByBatchHeadsAndChunks) {
  // 12 heads leave 5 cores each for the chunks of q.
  EXPECT_EQ(plan(attention({1, 12, 1024, 64}, {})).kernel.cores, 12 * 5);
  EXPECT_EQ(plan(attention({2, 4, 256, 64}, {})).kernel.cores, 2 * 4 * 8);
  EXPECT_EQ(plan(attention({1, 1, 64, 64}, {})).kernel.cores, 2);
}

TEST_F(LlamaOps, CausalAttentionSkipsWhatIsNotSeen) {
  const AttentionAttributes all{.query_chunk = 128, .key_chunk = 128};
  AttentionAttributes causal = all;
  causal.causal = true;
  const PlannedProgram whole = plan(attention({1, 8, 2048, 64}, all));
  const PlannedProgram part = plan(attention({1, 8, 2048, 64}, causal));
  EXPECT_LT(part.kernel.total, whole.kernel.total);
  EXPECT_LT(part.kernel.dram, whole.kernel.dram);
  // Of 16 chunks the first sees one and the last all: 17 / 32 of the keys and values.
  const Bytes operands(4 * 8 * 64 * 2 * 2048 / 2);
  EXPECT_EQ((part.kernel.dram - operands).value() * 32,
            (whole.kernel.dram - operands).value() * 17);
}

TEST_F(LlamaOps, AWindowPassesOverChunksInLaterSoftwareAlone) {
  const TensorSpec q{.shape = {1, 8, 2048, 64}};
  const auto in = [&](bool skips, const AttentionAttributes& attributes) {
    Profiles profiles = load_profiles();
    profiles.software.attention.skips_windows = skips;
    return plan_program(make_program(attributes, {q, q, q}, {q}), {8, 8}, profiles).kernel;
  };
  AttentionAttributes attributes{.causal = true, .query_chunk = 128, .key_chunk = 128};
  const KernelCost all = in(true, attributes);
  attributes.window = 256;
  const KernelCost before = in(false, attributes), later = in(true, attributes);
  EXPECT_EQ(before.dram, all.dram);
  EXPECT_GT(before.total, all.total) << "a mask is added to each chunk";
  EXPECT_LT(later.total, all.total);
  // Of 16 chunks the first sees one, the second two, and each other one three.
  const Bytes operands(4 * 8 * 64 * 2 * 2048 / 2);
  EXPECT_EQ((later.dram - operands).value() * 136, (all.dram - operands).value() * 45);
  attributes.causal = false;
  // 128 places before and behind are two chunks more, but at both ends.
  EXPECT_EQ((in(true, attributes).dram - operands).value() * 256,
            (in(false, attributes).dram - operands).value() * (3 * 16 - 2));
  attributes.compute.fp32_accumulation = true;
  EXPECT_EQ(in(true, attributes).total, in(false, attributes).total) << "the older kernel";
}

TEST_F(LlamaOps, ADecodingStepBeginsWithTheChunkOfItsWindow) {
  const ops::Tensor q = tensor({1, 8, 1, 64}), k = tensor({1, 8, 2048, 64});
  const ops::Tensor place(device_, {{1}, DataType::uint32, Layout::row_major});
  const auto read = [&](std::int64_t window) {
    const DecodeAttentionAttributes op{.seen = 2048, .window = window, .key_chunk = 256};
    return plan(make_program(op, {q, k, k, place}, {q})).kernel.dram.value() - 2 * 8 * 2 * 2048;
  };
  EXPECT_EQ(read(0), 8 * read(128));
  EXPECT_EQ(read(257), 2 * read(128)) << "it begins in the chunk before";
}

TEST_F(LlamaOps, ASparseProductLooksAtEachBlock) {
  const auto of = [&](std::int64_t experts, std::int64_t used) {
    const ops::Tensor a = tensor({1, 1, 32, 256}), b = tensor({1, experts, 256, 128});
    const ops::Tensor kept(device_, {{1, 1, 1, experts}, DataType::bfloat16, Layout::row_major});
    return plan(make_program(SparseMatmulAttributes{.used = used}, {a, b, kept},
                             {tensor({1, experts, 32, 128})}))
        .kernel;
  };
  const KernelCost few = of(8, 4), many = of(32, 4);
  EXPECT_EQ(many.total - few.total, 24 * device_.profiles().software.sparse_matmul_block);
  EXPECT_EQ(many.dram, few.dram);
  EXPECT_EQ(of(8, 8).total, of(8, 0).total);
  EXPECT_GT(of(8, 8).dram, few.dram);
}

/// Llama-3.3-70B on a chip of a Galaxy (tt-metal's targets of its prefill at 4096 tokens, 2025).
TEST_F(LlamaOps, AttentionWithoutTheFastExponentialTakesWhatAGalaxyMeasured) {
  EmulatedChip chip(load_profiles(), {.dispatch = DispatchCoreType::eth});
  const ops::Tensor q(chip, {{1, 8, 4096, 128}});
  const ops::Tensor k(chip, {{1, 1, 4096, 128}});
  AttentionAttributes attributes{.causal = true,
                                 .query_chunk = 256,
                                 .key_chunk = 256,
                                 .approximate = false,
                                 .compute = {.fidelity = MathFidelity::hifi4}};
  const double exact =
      chip.explain(make_program(attributes, {q, k, k}, {q})).kernel.total.seconds();
  EXPECT_NEAR(exact * 1e6, 1714, 50);
  attributes.approximate = true;
  EXPECT_LT(chip.explain(make_program(attributes, {q, k, k}, {q})).kernel.total.seconds(),
            0.6 * exact);
}

/// Llama-3.1-8B's prompts of 32 users on an N150 (tt-metal, July 2026): 155 us for 5 tokens, 160
/// for 32, which are as many tiles.
TEST_F(LlamaOps, AttentionToFewKeysTakesWhatItsQueriesTakeToo) {
  EmulatedChip chip(load_profiles(), {.dispatch = DispatchCoreType::eth});
  const ops::Tensor q(chip, {{32, 32, 32, 128}});
  const ops::Tensor k(chip, {{32, 8, 32, 128}});
  const Program program = make_program(AttentionAttributes{.causal = true}, {q, k, k}, {q});
  EXPECT_NEAR(chip.explain(program).kernel.total.seconds() * 1e6, 155, 12);
  const Program few = make_program(AttentionAttributes{.causal = true, .core_grid = CoreGrid{4, 4}},
                                   {q, k, k}, {q});
  EXPECT_EQ(chip.explain(few).kernel.cores, 16);
}

TEST_F(LlamaOps, LargerChunksReadTheKeysLessOften) {
  const auto read = [&](std::int64_t chunk) {
    return plan(attention({1, 8, 2048, 64}, {.query_chunk = chunk, .key_chunk = 128})).kernel.dram;
  };
  EXPECT_LT(read(256), read(128));
}

TEST_F(LlamaOps, AttentionRefusesWhatDoesNotFit) {
  const ops::Tensor q = tensor({1, 6, 64, 32});
  const ops::Tensor k = tensor({1, 4, 64, 32});
  EXPECT_THROW(make_program(AttentionAttributes{}, {q, k, k}, {q}), Error);
  const ops::Tensor longer = tensor({1, 6, 96, 32});
  EXPECT_THROW(make_program(AttentionAttributes{.causal = true}, {q, longer, longer}, {q}), Error);
  EXPECT_THROW(make_program(AttentionAttributes{.query_chunk = 48}, {q, q, q}, {q}), Error);
  EXPECT_THROW(make_program(AttentionAttributes{}, {q, q, q, tensor({1, 1, 64, 96})}, {q}), Error);
  EXPECT_NO_THROW(make_program(AttentionAttributes{}, {q, q, q, tensor({1, 1, 64, 64})}, {q}));
}

/// The three programs of TTML's attention on q [1, 8, s, 64] and as many keys of `groups` heads.
struct TtmlPrograms {
  Program forward, q, kv;
};

TEST_F(LlamaOps, TtmlsAttentionGoesThroughAllRowsOfTiles) {
  const auto programs = [&](std::int64_t rows, std::int64_t groups, bool causal) {
    const ops::Tensor q = tensor({1, 8, rows, 64});
    const ops::Tensor k = tensor({1, groups, rows, 64});
    const ops::Tensor row = tensor({1, 8, rows, 1});
    const std::vector<Operand> from{q, k, k, q, q, row, row};
    return TtmlPrograms{
        make_program(TtmlAttentionAttributes{.causal = causal}, {q, k, k}, {q, row, row}),
        make_program(AttentionBackwardQAttributes{.causal = causal}, from, {q}),
        make_program(AttentionBackwardKvAttributes{.causal = causal}, from, {k, k})};
  };
  const TtmlPrograms all = programs(512, 8, false);  // 16 rows of tiles in each of 8 heads
  // Each row reads 16 rows of 2 x 2 tiles, its own two, and writes two and the statistics.
  EXPECT_EQ(plan(all.forward).kernel.dram, Bytes(128 * (16 * 4 + 2 + 2 + 2) * 2048));
  EXPECT_EQ(plan(all.q).kernel.dram, Bytes(128 * (16 * 4 + 6 + 2 + 2) * 2048));
  EXPECT_EQ(plan(all.kv).kernel.dram, Bytes(128 * (16 * 8 + 4 + 4) * 2048));
  EXPECT_EQ(plan(all.forward).kernel.cores, 64);
  // Two rows of tiles a core: one that sees many and one that sees few, 17 of 32.
  const TtmlPrograms causal = programs(512, 8, true);
  for (const auto& [whole, part] :
       {std::pair{&all.forward, &causal.forward}, {&all.q, &causal.q}, {&all.kv, &causal.kv}}) {
    EXPECT_GT(2 * time(*part), time(*whole)) << whole->name;
    EXPECT_LT(10 * time(*part), 6 * time(*whole)) << whole->name;
  }
  EXPECT_LT(time(all.q), time(all.forward)) << "which has two exponentials";
  EXPECT_GT(time(all.kv), time(all.q)) << "which has a product less";
  // Fewer heads of keys and values leave fewer cores with work, which is as much altogether.
  const TtmlPrograms shared = programs(512, 2, false);
  EXPECT_EQ(plan(shared.kv).kernel.cores, 32);
  EXPECT_GT(2 * time(shared.kv), 3 * time(all.kv));
  EXPECT_EQ(time(shared.q), time(all.q));
  // A mask is a tile more for each step, and six passes over one.
  Program masked = all.forward;
  masked.inputs.push_back(tensor({1, 1, 512, 512}));
  EXPECT_EQ(plan(masked).kernel.dram, plan(all.forward).kernel.dram + Bytes(128 * 16 * 2048));
  EXPECT_GT(100 * time(masked), 103 * time(all.forward));
  EXPECT_LT(100 * time(masked), 130 * time(all.forward));
  // Twice the rows are four times the work.
  EXPECT_GT(time(programs(1024, 8, true).kv), 3 * time(causal.kv));
}

TEST_F(LlamaOps, SwigluReadsTheWeightsOnceForARowOfTilesOfEachCore) {
  const auto swiglu = [&](std::int64_t rows, std::int64_t width, std::int64_t hidden) {
    const ops::Tensor x = tensor({rows, width});
    const ops::Tensor wide = tensor({hidden, width});
    return make_program(SwigluAttributes{}, {x, wide, tensor({width, hidden}), wide}, {x});
  };
  // Two rows of 4 tiles on two cores: three weights of 4 x 8 tiles are read for both, and x.
  const PlannedProgram two = plan(swiglu(64, 128, 256));
  EXPECT_EQ(two.kernel.cores, 2);
  EXPECT_EQ(two.kernel.dram, Bytes((3 * 32 + 2 * 2 * 4) * 2048));
  EXPECT_EQ(two.kernel.total, time(swiglu(64 * 32, 128, 256))) << "64 rows, each on its own core";
  EXPECT_GT(2 * time(swiglu(65 * 32, 128, 256)), 3 * two.kernel.total);
  // A hidden row of 1024 tiles leaves no room for itself in L1: it is made 32 times.
  const Bytes once = plan(swiglu(32, 4096, 8192)).kernel.dram;
  EXPECT_EQ(once, Bytes((3 * 128 * 256 + 2 * 128) * 2048));
  EXPECT_EQ(plan(swiglu(32, 4096, 32768)).kernel.dram,
            Bytes((32 * 2 * 128 * 1024 + 128 * 1024 + 33 * 128) * 2048L));
  EXPECT_THROW(
      make_program(SwigluAttributes{},
                   {tensor({32, 64}), tensor({96, 64}), tensor({96, 64}), tensor({96, 64})},
                   {tensor({32, 64})}),
      Error);
}

TEST_F(LlamaOps, ADecodingStepReadsTheCacheOnceAndSharesItsChunks) {
  const ops::Tensor place(
      device_, {.shape = {1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major});
  const auto step = [&](std::int64_t groups, std::int64_t places) {
    const ops::Tensor q = tensor({1, 32, 1, 64});
    const ops::Tensor cache = tensor({1, groups, places, 64});
    return plan(make_program(DecodeAttentionAttributes{}, {q, cache, cache, place}, {q}));
  };
  // 4 of 8 cores for each of 8 heads of keys share 4 chunks of 8 tiles: 2 x 32 x 2 tiles for each
  // head, and the tiles of q and of the result.
  EXPECT_EQ(step(8, 1024).kernel.cores, 32);
  EXPECT_EQ(step(8, 1024).kernel.dram, Bytes(8 * (2 * 32 * 2 + 2 * 2) * 2048));
  EXPECT_EQ(step(1, 96).kernel.cores, 1) << "3 tiles are a chunk of 4";
  EXPECT_EQ(step(1, 4096).kernel.cores, 16);
  EXPECT_GT(step(8, 4096).kernel.total, step(8, 1024).kernel.total);
  const ops::Tensor q = tensor({1, 8, 1, 64}), narrow = tensor({1, 8, 1, 32});
  const ops::Tensor cache = tensor({1, 8, 64, 64});
  EXPECT_THROW(make_program(DecodeAttentionAttributes{}, {narrow, cache, cache, place}, {narrow}),
               Error);
  EXPECT_THROW(make_program(DecodeAttentionAttributes{}, {q, cache, cache, q}, {q}), Error)
      << "no position";
}

TEST_F(LlamaOps, OneCoreMergesThePartsOfADecodingStepWithAnExponentialForEitherPart) {
  Profiles slow = load_profiles();
  const ops::Tensor place(
      device_, {.shape = {1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major});
  const auto step = [&](std::int64_t places, bool approximate) {
    const ops::Tensor q = tensor({1, 32, 1, 64}), cache = tensor({1, 1, places, 64});
    return plan_program(make_program(DecodeAttentionAttributes{.approximate = approximate},
                                     {q, cache, cache, place}, {q}),
                        {8, 8}, slow)
        .kernel.total;
  };
  const SimTime chunk = step(256, true), parts = step(4096, true);
  const SimTime exact = step(4096, false);
  const AttentionCosts& costs = slow.software.attention;
  const SimTime each = costs.exact_exp - costs.exp;
  EXPECT_EQ(step(256, false) - chunk, 8 * each);
  EXPECT_EQ(exact - parts, (8 + 15 * 2) * each);
  slow.software.attention.decode_chunk += SimTime::microseconds(1);
  EXPECT_EQ(step(256, true) - chunk, SimTime::microseconds(1));
  EXPECT_EQ(step(4096, true) - parts, SimTime::microseconds(16));
}

TEST_F(LlamaOps, ARowIsWrittenIntoACacheOfAnyLengthAtTheSameCost) {
  const ops::Tensor place(
      device_, {.shape = {1, 1}, .dtype = DataType::uint32, .layout = Layout::row_major});
  const ops::Tensor row = tensor({1, 8, 1, 64});
  const SimTime shorter = time(make_program(
      UpdateCacheAttributes{}, {row, tensor({1, 8, 64, 64}), place}, {tensor({1, 8, 64, 64})}));
  EXPECT_EQ(time(make_program(UpdateCacheAttributes{}, {row, tensor({1, 8, 2048, 64}), place},
                              {tensor({1, 8, 2048, 64})})),
            shorter);
  EXPECT_EQ(time(make_program(WriteRowsAttributes{.row = 77}, {row, tensor({1, 8, 2048, 64})},
                              {tensor({1, 8, 2048, 64})})),
            shorter);
  const ops::Tensor tiles = tensor({1, 8, 64, 64});
  const Program whole = make_program(WriteRowsAttributes{.row = 32},
                                     {tiles, tensor({1, 8, 2048, 64})}, {tensor({1, 8, 2048, 64})});
  EXPECT_EQ(launches(whole), 1U);
  EXPECT_EQ(plan(whole).kernel.dram, Bytes(2 * 8 * 2 * 2 * 2048));
  EXPECT_THROW(make_program(WriteRowsAttributes{.row = 2000}, {tiles, tensor({1, 8, 2048, 64})},
                            {tensor({1, 8, 2048, 64})}),
               Error);
}

TEST_F(LlamaOps, SlicesOfWholeTilesAreOneLaunchAndOthersGoThroughRows) {
  const ops::Tensor x = tensor({1, 2, 128, 64});
  EXPECT_EQ(launches(make_program(SliceAttributes{.begins = {0, 1, 32, 0}}, {x},
                                  {tensor({1, 1, 64, 64})})),
            1U);
  EXPECT_EQ(launches(make_program(SliceAttributes{.begins = {0, 0, 32, 0}}, {x},
                                  {tensor({1, 2, 96, 64})})),
            1U);
  EXPECT_EQ(launches(make_program(SliceAttributes{.begins = {0, 0, 5, 0}}, {x},
                                  {tensor({1, 2, 64, 64})})),
            3U);
  EXPECT_EQ(launches(make_program(SliceAttributes{.begins = {0, 0, 0, 0}, .steps = {1, 1, 2, 1}},
                                  {x}, {tensor({1, 2, 64, 64})})),
            3U);
  EXPECT_EQ(launches(make_program(PadAttributes{.before = {}, .value = 0}, {x},
                                  {tensor({1, 2, 160, 64})})),
            1U);
  EXPECT_EQ(launches(make_program(PadAttributes{.before = {0, 0, 3, 0}, .value = 0}, {x},
                                  {tensor({1, 2, 160, 64})})),
            3U);
  EXPECT_EQ(launches(make_program(PadAttributes{.before = {0, 0, 0, 3}, .value = 0}, {x},
                                  {tensor({1, 2, 128, 96})})),
            3U);
}

TEST_F(LlamaOps, PermutationsThatKeepTilesWholeAreCheapest) {
  const ops::Tensor x = tensor({4, 4, 128, 128});
  const auto of = [&](const std::array<int, 4>& order) {
    const ops::Tensor out(device_,
                          results_of(PermuteAttributes{.order = order}, std::array{x.spec()})[0]);
    return time(make_program(PermuteAttributes{.order = order}, {x}, {out}));
  };
  const SimTime outer = of({1, 0, 2, 3});
  EXPECT_LT(outer, of({2, 0, 1, 3}));
  EXPECT_LE(of({2, 0, 1, 3}), of({3, 0, 1, 2}));
}

TEST_F(LlamaOps, PartsThatLeaveTheTensorAreRefused) {
  const ops::Tensor x = tensor({64, 64});
  EXPECT_THROW(make_program(SliceAttributes{.begins = {0, 0, 32, 0}}, {x}, {tensor({64, 64})}),
               Error);
  EXPECT_THROW(make_program(SliceAttributes{.begins = {0, 0, -1, 0}}, {x}, {tensor({32, 64})}),
               Error);
  EXPECT_THROW(make_program(PadAttributes{.before = {}, .value = 0}, {x}, {tensor({32, 64})}),
               Error);
  EXPECT_THROW(make_program(PermuteAttributes{.order = {0, 1, 2, 2}}, {x}, {x}), Error);
}

}  // namespace
}  // namespace howard::chip
