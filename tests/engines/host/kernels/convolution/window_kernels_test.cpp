// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/engines/host/host_calls.h"

namespace howard::host {
namespace {

Given given(const Shape& shape, Values values) {
  return {{shape, DataType::float32}, std::move(values)};
}

Values result(const Attributes& op, const std::vector<Given>& inputs, const Shape& shape) {
  HostDevice device;
  return run_on(device, op, inputs, {{shape, DataType::float32}})[0];
}

const Window kThree{.height = 3, .width = 3, .size = {2, 2}};
const Given kNine = given({9, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});

TEST(WindowKernels, AConvolutionIsTheSumOfWhatAStopSees) {
  const Conv2dAttributes op{.window = kThree};
  EXPECT_EQ(result(op, {kNine, given({4, 1}, {1, 10, 100, 1000})}, {4, 1}),
            (Values{5421, 6532, 8754, 9865}));
  Conv2dAttributes padded{.window = kThree, .activation = step_of(Eltwise::relu)};
  padded.window.padding = {1, 0, 1, 0};
  EXPECT_EQ(result(padded, {kNine, given({4, 1}, {1, 10, 100, -1000}), given({1}, {4300})}, {9, 1}),
            (Values{3300, 2400, 1500, 310, 0, 0, 0, 0, 0}));
}

TEST(WindowKernels, PoolsTakeTheLargestOrTheMean) {
  Pool2dAttributes pool{.kind = PoolKind::max, .window = kThree};
  EXPECT_EQ(result(pool, {kNine}, {4, 1}), (Values{5, 6, 8, 9}));
  pool.kind = PoolKind::average;
  EXPECT_EQ(result(pool, {kNine}, {4, 1}), (Values{3, 4, 6, 7}));
  pool.window.padding = {1, 0, 1, 0};
  pool.window.stride = {2, 2};
  EXPECT_EQ(result(pool, {kNine}, {4, 1}), (Values{0.25F, 1.25F, 2.75F, 7}));
  pool.counts_padding = false;
  EXPECT_EQ(result(pool, {kNine}, {4, 1}), (Values{1, 2.5F, 5.5F, 7}));
  pool.divisor = 2;
  EXPECT_EQ(result(pool, {kNine}, {4, 1}), (Values{0.5F, 2.5F, 5.5F, 14}));
}

TEST(WindowKernels, AMeanBeyondThePaddingCountsWhatIsThere) {
  Pool2dAttributes pool{.kind = PoolKind::average, .window = kThree};
  pool.window.stride = {2, 2};
  pool.window.beyond = {1, 1};
  EXPECT_EQ(result(pool, {kNine}, {4, 1}), (Values{3, 4.5F, 7.5F, 9}));
}

TEST(WindowKernels, UpsampleRepeatsOrWeighs) {
  const Given x = given({1, 2, 2, 1}, {0, 4, 8, 12});
  EXPECT_EQ(result(UpsampleAttributes{.factor = {1, 2}}, {x}, {1, 2, 4, 1}),
            (Values{0, 0, 4, 4, 8, 8, 12, 12}));
  EXPECT_EQ(result(UpsampleAttributes{.factor = {1, 2}, .bilinear = true}, {x}, {1, 2, 4, 1}),
            (Values{0, 1, 3, 4, 8, 9, 11, 12}));
}

TEST(WindowKernels, AFoldPutsTheWindowIntoTheChannels) {
  const Given x = given({1, 2, 4, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(result(FoldAttributes{.stride = {2, 2}}, {x}, {2, 4}),
            (Values{0, 1, 4, 5, 2, 3, 6, 7}));
}

TEST(WindowKernels, GroupsAndChannelsAreNormalised) {
  const Given x = given({1, 1, 2, 2}, {1, 3, 5, 7});
  const Values grouped = result(GroupNormAttributes{.groups = 2, .epsilon = 0}, {x}, {1, 1, 2, 2});
  EXPECT_EQ(grouped, (Values{-1, -1, 1, 1}));
  const Values whole = result(GroupNormAttributes{.epsilon = 0}, {x}, {1, 1, 2, 2});
  EXPECT_NEAR(whole[0], -3 / std::sqrt(5.0), 1e-6);
  const Given numbers = given({1, 2, 1, 1}, {1, 3});
  const Values batch =
      result(BatchNormAttributes{.epsilon = 3},
             {given({1, 2, 1, 2}, {1, 3, 5, 7}), numbers, numbers, numbers, numbers}, {1, 2, 1, 2});
  EXPECT_EQ(batch[0], 1);
  EXPECT_NEAR(batch[1], 1 + 2 / std::sqrt(4.0), 1e-6);
  EXPECT_NEAR(batch[3], 3 + 3 * 4 / std::sqrt(6.0), 1e-5);
}

}  // namespace
}  // namespace howard::host
