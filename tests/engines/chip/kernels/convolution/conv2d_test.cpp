// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
namespace {

Operand tensor(const Shape& shape, DataType dtype = DataType::bfloat16,
               Layout layout = Layout::tile) {
  return {BufferId(), {.shape = shape, .dtype = dtype, .layout = layout}};
}

class ImageOps : public ::testing::Test {
 protected:
  double us(const Attributes& op, std::vector<Operand> inputs, const Shape& result,
            Layout layout = Layout::tile, DataType dtype = DataType::bfloat16) {
    const Operand out = tensor(result, dtype, layout);
    return chip_.explain(make_program(op, std::move(inputs), {out})).kernel.total.seconds() * 1e6;
  }

  /// A convolution with a bias of square images.
  double conv(const Conv2dAttributes& op, std::int64_t channels, std::int64_t outside,
              DataType weights, DataType made = DataType::bfloat16) {
    const std::int64_t inner = op.window.places() * channels;
    return us(op,
              {tensor({op.window.places_in(), channels}), tensor({inner, outside}, weights),
               tensor({outside}, weights)},
              {op.window.places_out(), outside}, Layout::tile, made);
  }

  EmulatedChip chip_{load_profiles({.profiles = {"wormhole_b0_n150"}, .settings = {}}),
                     {.dispatch = DispatchCoreType::eth}};  // 64 cores
};

Window window(std::int64_t images, std::int64_t side, std::int64_t kernel, std::int64_t stride,
              std::int64_t padding) {
  return {.images = images,
          .height = side,
          .width = side,
          .size = {kernel, kernel},
          .stride = {stride, stride},
          .padding = {padding, padding, padding, padding}};
}

/// Kernels of N150 that tt-metal's branch wransom/conv_bench has measured (0790a090e1, June 2026).
TEST_F(ImageOps, ConvolutionsTakeWhatWasMeasuredWithinAQuarter) {
  struct Row {
    std::int64_t images, channels, outside, side, kernel, stride;
    ShardLayout sharding;
    MathFidelity fidelity;
    bool accumulates;
    double us;
  };
  using enum ShardLayout;
  using enum MathFidelity;
  const Row rows[] = {
      {20, 64, 64, 56, 3, 1, height, lofi, true, 96.456},
      {20, 128, 128, 56, 3, 2, height, lofi, true, 58.342},
      {20, 256, 256, 14, 3, 1, block, lofi, true, 191.172},
      {20, 512, 512, 14, 3, 2, block, lofi, true, 106.262},
      {20, 64, 256, 56, 1, 2, height, lofi, true, 13.993},
      {20, 1024, 2048, 14, 1, 2, block, lofi, true, 58.219},
      {1, 1536, 1536, 16, 3, 1, block, hifi2, false, 331.202},
      {1, 768, 768, 64, 3, 1, block, hifi2, false, 790.42},
      {1, 384, 384, 128, 3, 2, block, hifi2, false, 379.606},
  };
  std::vector<double> errors;
  for (const Row& row : rows) {
    const double time =
        conv({.window = window(row.images, row.side, row.kernel, row.stride, row.kernel / 2),
              .sharding = row.sharding,
              .compute = {.fidelity = row.fidelity, .packer_accumulates = row.accumulates}},
             row.channels, row.outside, DataType::bfloat8_b);
    EXPECT_NEAR(time / row.us, 1, 0.25) << row.channels << " to " << row.outside;
    errors.push_back(std::abs(time / row.us - 1));
  }
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], 0.08);
}

TEST_F(ImageOps, SmallBlocksOfStopsReadTheWeightsAgain) {
  Conv2dAttributes op{.window = window(16, 115, 4, 1, 0)};
  const double whole = conv(op, 16, 64, DataType::bfloat8_b);
  op.act_block_h = 1;
  const double small = conv(op, 16, 64, DataType::bfloat8_b);
  EXPECT_GT(small, 1.5 * whole);
  op.act_block_h = 5;  // It does not divide the 98 tiles of a core.
  EXPECT_EQ(conv(op, 16, 64, DataType::bfloat8_b), small);
}

TEST_F(ImageOps, ActivationsAreTilizedIntoTheTypeOfTheResult) {
  // 13 x 8 tiles of activations go to each of 8 columns of cores, at half the bytes.
  const Conv2dAttributes op{.window = window(16, 14, 3, 1, 1), .sharding = ShardLayout::block};
  const double wide = conv(op, 256, 256, DataType::bfloat8_b);
  EXPECT_LT(conv(op, 256, 256, DataType::bfloat8_b, DataType::bfloat8_b), 0.85 * wide);
}

TEST_F(ImageOps, TwoBuffersAndReuseSaveTime) {
  Conv2dAttributes op{.window = window(16, 56, 3, 1, 1), .compute = {.packer_accumulates = true}};
  const double plain = conv(op, 64, 64, DataType::bfloat8_b);
  op.double_buffers_x = op.double_buffers_weights = true;
  const double buffered = conv(op, 64, 64, DataType::bfloat8_b);
  EXPECT_LE(buffered, plain);
  op.reuses_x = true;
  EXPECT_LT(conv(op, 64, 64, DataType::bfloat8_b), buffered);
}

TEST_F(ImageOps, ManyBlocksTakeAsLongAsFewOnesInProportion) {
  Conv2dAttributes op{.window = window(64, 112, 3, 1, 1), .cores = 1, .act_block_h = 1};
  const double all = conv(op, 32, 32, DataType::bfloat8_b);
  op.window.images = 32;
  EXPECT_NEAR(conv(op, 32, 32, DataType::bfloat8_b) / all, 0.5, 0.001);
}

TEST_F(ImageOps, HalosAndPoolsTakeWhatWasMeasured) {
  // RT-DETR on an N300: 160x160 places, 64 cores with 26 tiles each.
  const HaloAttributes halo{.window = window(1, 160, 3, 1, 1)};
  EXPECT_NEAR(us(halo, {tensor({25600, 64})}, {25600, 64}, Layout::row_major), 9.8, 1.5);
  // The average of 2x2 of 32 channels: 97 ns a stop.
  const Pool2dAttributes pool{.kind = PoolKind::average, .window = window(1, 320, 2, 2, 0)};
  const double start = 0.8;
  EXPECT_NEAR((us(pool, {tensor({102400, 32})}, {25600, 32}) - start) / 400, 0.097, 0.001);
}

TEST_F(ImageOps, ALargerWindowIsSlower) {
  const auto time = [&](std::int64_t side) {
    return us(Pool2dAttributes{.window = window(1, 64, side, 1, 0)}, {tensor({4096, 64})},
              {(65 - side) * (65 - side), 64});
  };
  EXPECT_LT(time(3), time(9));
}

/// Returns what a group norm of 16 groups takes on 20 cores of a Blackhole, in microseconds.
double group_norm(const Shape& shape, std::optional<Sharding> sharding = {},
                  std::optional<CoreGrid> core_grid = {}, bool fp32 = false) {
  static const Profiles profiles = load_profiles({.profiles = {"blackhole_p150"}, .settings = {}});
  Operand x = tensor(shape, DataType::bfloat16, sharding ? Layout::row_major : Layout::tile);
  x.spec.sharding = sharding;
  if (sharding) x.spec.storage = Storage::l1;
  const GroupNormAttributes op{.groups = 16, .core_grid = core_grid, .fp32_accumulation = fp32};
  return plan(op, make_program(op, {x}, {x}), {5, 4}, profiles).kernel.total.seconds() * 1e6;
}

Sharding shards(ShardLayout layout, std::int64_t rows, std::int64_t columns) {
  return {.layout = layout, .grid = {5, 4}, .rows = rows, .columns = columns};
}

/// Kernels in the logs of tt-perf-report (00b7324), on 20 cores of a Blackhole.
TEST(GroupNorm, TakesWhatWasMeasured) {
  using enum ShardLayout;
  EXPECT_NEAR(group_norm({1, 1, 122880, 64}) / 16450, 1, 0.15);
  EXPECT_NEAR(group_norm({1, 1, 25344, 256}) / 1768, 1, 0.1);
  EXPECT_NEAR(group_norm({1, 1, 30720, 64}, shards(height, 1536, 64)) / 632, 1, 0.25);
  EXPECT_NEAR(group_norm({1, 1, 7680, 128}, shards(height, 384, 128)) / 313, 1, 0.15);
  EXPECT_NEAR(group_norm({1, 1, 7680, 256}, shards(height, 384, 256)) / 338, 1, 0.15);
  EXPECT_NEAR(group_norm({1, 1, 1920, 256}, shards(height, 96, 256)) / 228, 1, 0.15);
  EXPECT_NEAR(group_norm({1, 1, 480, 512}, shards(block, 96, 128)) / 32.6, 1, 0.25);
  EXPECT_NEAR(group_norm({1, 1, 480, 256}, shards(block, 96, 64)) / 29.9, 1, 0.25);
}

TEST(GroupNorm, OnlyCoresThatShareAnImageGatherItsSums) {
  const Sharding rows = shards(ShardLayout::height, 96, 64);
  const double shared = group_norm({1, 1, 1920, 64}, rows);
  const double alone = group_norm({20, 1, 96, 64}, rows);
  EXPECT_LT(alone, 0.4 * shared);
  // Four read four sums and multicast, and twenty read twenty.
  EXPECT_NEAR((group_norm({5, 1, 384, 64}, rows) - alone) / (shared - alone), 5.0 / 21, 0.01);
}

TEST(GroupNorm, IsDealtOverItsOwnCoreGrid) {
  const Shape x{1, 1, 25344, 256};
  const double few = group_norm(x, {}, CoreGrid{2, 2});
  EXPECT_NEAR(few / group_norm(x, {}, CoreGrid{4, 4}), 4, 0.1);
  EXPECT_EQ(group_norm(x), group_norm(x, {}, CoreGrid{5, 4}));
  EXPECT_THROW(group_norm(x, {}, CoreGrid{15, 4}), Error);
  EXPECT_THROW(group_norm(x, {}, CoreGrid{5, 11}), Error);
}

TEST(GroupNorm, ReadsATileOnceMoreForEachGroupButTheFirst) {
  // 16 groups of 32 channels have tiles of their own, and pairs of 16 channels share one.
  const double own = group_norm({1, 1, 8192, 512}), shared = group_norm({1, 1, 8192, 256});
  const double add = group_norm({1, 1, 16384, 512}) - own;
  const double add_shared = group_norm({1, 1, 16384, 256}) - shared;
  EXPECT_GT(add_shared, 1.05 * add) << "as many steps";
  EXPECT_LT(add_shared, 1.25 * add);
}

TEST(GroupNorm, IsSlowerWithSumsInFp32) {
  const Sharding rows = shards(ShardLayout::height, 384, 256);
  EXPECT_GT(group_norm({1, 1, 7680, 256}, rows, {}, true),
            1.3 * group_norm({1, 1, 7680, 256}, rows));
}

TEST(Convolution, RefusesImagesThatDoNotFit) {
  const auto refused = [](const Conv2dAttributes& op, const Shape& x, const Shape& weights) {
    EXPECT_THROW(make_program(op, {tensor(x), tensor(weights)}, {tensor({1, 1})}), Error);
  };
  refused({.window = window(1, 4, 3, 1, 0)}, {15, 8}, {72, 8});
  refused({.window = window(1, 4, 3, 1, 0)}, {16, 8}, {71, 8});
  refused({.window = window(1, 2, 3, 1, 0)}, {4, 8}, {72, 8});
}

}  // namespace
}  // namespace howard::chip
