// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/rows/rows.h"

#include <gtest/gtest.h>

#include "engines/chip/emulated_chip.h"
#include "engines/ops/tensor.h"
#include "tests/engines/chip/round_profiles.h"

namespace howard::chip {
namespace {

class NormOps : public ::testing::Test {
 protected:
  ops::Tensor tensor(const Shape& shape) { return {device_, {shape}}; }
  const PlannedProgram& plan(const Program& program) { return device_.explain(program); }
  SimTime time(const Program& program) { return plan(program).kernel.total; }

  Program rms_norm(const Shape& shape) {
    const ops::Tensor x = tensor(shape);
    return make_program(RmsNormAttributes{.epsilon = 1e-5F}, {x}, {x});
  }
  Program rotary(const Shape& shape, RotaryStyle style) {
    const ops::Tensor x = tensor(shape);
    const ops::Tensor table = tensor({shape.rows(), shape.columns()});
    return make_program(RotaryEmbeddingAttributes{.style = style}, {x, table, table}, {x});
  }

  static Profiles profiles() {
    Profiles profiles = round_profiles();
    profiles.software.tiles.pass = ns(1000);  // math is the slowest stage
    return profiles;
  }

  EmulatedChip device_{profiles(), {.dispatch = DispatchCoreType::eth}};  // 64 cores
};

TEST_F(NormOps, RmsNormTakesFourPassesOverEachTile) {
  const SimTime more = time(rms_norm({32, 32 * 40})) - time(rms_norm({32, 32 * 39}));
  EXPECT_EQ(more, 4 * profiles().software.tiles.pass);
}

TEST_F(NormOps, OneCoreForEachRowOfTiles) {
  EXPECT_EQ(plan(rms_norm({96, 128})).kernel.cores, 3);
  EXPECT_EQ(time(rms_norm({96, 128})), time(rms_norm({64 * 32, 128})));
  EXPECT_GT(time(rms_norm({65 * 32, 128})), time(rms_norm({64 * 32, 128})));
}

TEST_F(NormOps, GammaIsReadOnceByEachCore) {
  const ops::Tensor x = tensor({64, 128});
  const PlannedProgram scaled =
      plan(make_program(RmsNormAttributes{.epsilon = 1e-5F}, {x, tensor({128})}, {x}));
  EXPECT_EQ(scaled.kernel.dram, plan(rms_norm({64, 128})).kernel.dram + Bytes(2 * 4 * 2048));
}

TEST_F(NormOps, BackwardTakesTwiceTheForwardPassesOfTtml) {
  const auto of = [&](std::int64_t tiles) {
    const ops::Tensor x = tensor({32, 32 * tiles});
    const ops::Tensor gamma = tensor({32 * tiles});
    const ops::Tensor root = tensor({32, 1});
    return std::pair(
        time(make_program(TtmlRmsNormAttributes{.epsilon = 1e-5F}, {x, gamma}, {x, root})),
        time(make_program(RmsNormBackwardAttributes{}, {x, gamma, root, x}, {x, x})));
  };
  const auto [forward, backward] = of(20);
  EXPECT_GT(backward, forward);
}

TEST_F(NormOps, PairsAreDealtOutAlongTheSequenceAndHalvesOverAllRows) {
  // A sequence of 8 rows of tiles keeps 8 cores busy, each with all of 12 heads.
  EXPECT_EQ(plan(rotary({1, 12, 256, 64}, RotaryStyle::pairs)).kernel.cores, 8);
  EXPECT_EQ(plan(rotary({1, 12, 256, 64}, RotaryStyle::halves)).kernel.cores, 64);
  EXPECT_EQ(plan(rotary({4, 12, 256, 64}, RotaryStyle::pairs)).kernel.cores, 32);
}

TEST(Rotary, TablesOfFewPagesCrowdTheirBanks) {
  EmulatedChip wormhole{load_profiles()};
  const auto plan = [&](const Shape& shape) {
    const ops::Tensor x(wormhole, {shape, DataType::bfloat16});
    const ops::Tensor table(wormhole, {{shape.rows(), shape.columns()}, DataType::bfloat16});
    const RotaryEmbeddingAttributes op{.style = RotaryStyle::halves};
    return wormhole.explain(make_program(op, {x, table, table}, {x})).kernel;
  };
  // Both have 4096 tiles in 1024 rows of tiles; a table has 4 pages, and 128, for 12 banks.
  const KernelCost crowded = plan({32, 32, 32, 128}), spread = plan({1, 32, 1024, 128});
  EXPECT_EQ(crowded.dram, spread.dram);
  EXPECT_GT(crowded.total.ps(), spread.total.ps() * 3 / 2);
  // As many pages as banks crowd none.
  EXPECT_EQ(plan({8, 32, 32, 12 * 32}).total, plan({1, 32, 8 * 32, 12 * 32}).total);
}

TEST_F(NormOps, TheTablesAreReadAgainForEachHeadWhenThereAreMoreThanEight) {
  const Bytes eight = plan(rotary({1, 8, 32, 64}, RotaryStyle::pairs)).kernel.dram;
  const Bytes nine = plan(rotary({1, 9, 32, 64}, RotaryStyle::pairs)).kernel.dram;
  EXPECT_EQ(eight, Bytes((2 * 8 + 2) * 2 * 2048));
  EXPECT_EQ(nine, Bytes(4 * 9 * 2 * 2048));
}

}  // namespace
}  // namespace howard::chip
