// SPDX-License-Identifier: Apache-2.0
// Numbers at the edges of a type, long sums, and operands at places that no kernel takes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/engines/host/host_calls.h"

namespace howard::host {
namespace {

TEST(HostEltwise, CastsRoundToNearestEven) {
  // These are halfway between two bfloat16 numbers: 1 + 2^-8 rounds to the even 1, and 1 + 3 * 2^-8
  // to 1 + 2^-6.
  const Given x{{{1, 4}, DataType::float32}, {1.00390625F, 1.01171875F, -1.00390625F, 3.0F}};
  const TensorSpec narrow{{1, 4}, DataType::bfloat16};
  const EltwiseAttributes cast{.function = Eltwise::cast, .scalar = {}};
  const Values out = run(cast, {x}, {narrow})[0];
  EXPECT_EQ(out, (Values{1.0F, 1.015625F, -1.0F, 3.0F}));
  EXPECT_EQ(run(cast, {{narrow, out}}, {x.spec})[0], out);
}

TEST(HostEltwise, SpecialValuesPassAsInFloat64) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Given x{{{1, 5}, DataType::float32}, {infinity, -infinity, nan, 1000.0F, -1000.0F}};
  const auto apply = [&](Eltwise function) {
    return run(EltwiseAttributes{.function = function, .scalar = {}}, {x}, {x.spec})[0];
  };
  const Values exp = apply(Eltwise::exp);
  EXPECT_EQ(exp[0], infinity);
  EXPECT_EQ(exp[1], 0);
  EXPECT_TRUE(std::isnan(exp[2]));
  EXPECT_EQ(exp[3], infinity);
  EXPECT_EQ(exp[4], 0);
  const Values gelu = apply(Eltwise::gelu);
  EXPECT_EQ(gelu[0], infinity);
  EXPECT_EQ(gelu[1], 0);
  EXPECT_TRUE(std::isnan(gelu[2]));
  EXPECT_EQ(gelu[3], 1000);
  EXPECT_EQ(gelu[4], 0);
  const Values erf = apply(Eltwise::erf);
  EXPECT_EQ(erf[0], 1);
  EXPECT_EQ(erf[1], -1);
  EXPECT_TRUE(std::isnan(erf[2]));
  EXPECT_TRUE(std::isnan(apply(Eltwise::relu)[2]));
}

TEST(HostEltwise, AFillNeedsNoOperand) {
  const TensorSpec spec{{3, 50, 257}, DataType::bfloat16};
  const EltwiseAttributes fill{.function = Eltwise::fill, .scalar = 2.5F};
  EXPECT_EQ(run(fill, {}, {spec})[0], Values(at(spec.shape.elements()), 2.5F));
}

TEST(HostSilu, OfInfinitiesIsNoNan) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Given x{{{1, 4}, DataType::float32}, {infinity, -infinity, 200, -200}};
  const EltwiseAttributes silu{.function = Eltwise::silu, .scalar = {}};
  EXPECT_EQ(run(silu, {x}, {x.spec})[0], (Values{infinity, 0, 200, 0}));
}

TEST(HostRows, SoftmaxOfLargeNumbersDoesNotOverflow) {
  const Given x{{{1, 3}, DataType::float32}, {3e38F, 3e38F, -3e38F}};
  EXPECT_EQ(run(SoftmaxAttributes{}, {x}, {x.spec})[0], (Values{0.5F, 0.5F, 0.0F}));
}

TEST(HostReduce, ALongSumKeepsItsSmallTerms) {
  // If 2^20 times 0.1 are added one after the other in float32, the sum is off by 1 %.
  const Given column{{{1 << 20, 2}, DataType::float32}, Values(std::size_t{2} << 20, 0.1F)};
  const double exact = static_cast<double>(0.1F) * (1 << 20);
  const Values sums = run(ReduceAttributes{.dimension = Dimension::rows}, {column},
                          {{{1, 2}, DataType::float32}})[0];
  for (const float sum : sums) EXPECT_NEAR(sum, exact, exact * 1e-4);
  const Values all =
      run(ReduceAttributes{.dimension = Dimension::all}, {column}, {{{1}, DataType::float32}})[0];
  EXPECT_NEAR(all[0], 2 * exact, 2 * exact * 1e-5);
}

TEST(HostReduce, ANanComesThrough) {
  Given x = random({5, 100}, DataType::float32, 1);
  x.values[120] = std::numeric_limits<float>::quiet_NaN();
  for (const Reduction reduction : {Reduction::sum, Reduction::mean, Reduction::max}) {
    const Values out =
        run(ReduceAttributes{.reduction = reduction, .dimension = Dimension::columns}, {x},
            {{{5, 1}, DataType::float32}})[0];
    EXPECT_TRUE(std::isnan(out[1])) << name_of(reduction);
    EXPECT_FALSE(std::isnan(out[0])) << name_of(reduction);
  }
}

Given position(float place) { return {{{1, 1}, DataType::uint32, Layout::row_major}, {place}}; }

TEST(HostKernels, APlaceBehindTheCacheIsAnError) {
  const Given q = random({2, 4, 1, 12}, DataType::float32, 1);
  const Given keys = random({2, 2, 9, 12}, DataType::float32, 2);
  EXPECT_THROW(run(DecodeAttentionAttributes{}, {q, keys, keys, position(9)}, {q.spec}), Error);
  const Given rows = random({1, 2, 2, 3}, DataType::bfloat16, 1);
  const Given cache = random({1, 2, 5, 3}, DataType::bfloat16, 2);
  EXPECT_THROW(run(UpdateCacheAttributes{}, {rows, cache, position(4)}, {cache.spec}, {1}), Error);
}

TEST(HostKernels, ResultsThatWouldOverwriteWhatIsStillReadAreErrors) {
  HostDevice device;
  const Given x = random({4, 6}, DataType::float32, 1);
  const Given row = random({1, 6}, DataType::float32, 1);
  const Given statistic{{{4, 1}, DataType::float32}, Values(4)};
  const std::vector<TensorSpec> three{x.spec, x.spec, x.spec};
  EXPECT_THROW(run_on(device, ReshapeAttributes{}, {x}, {x.spec}, {0}), Error);
  EXPECT_THROW(
      run_on(device, ReduceAttributes{.dimension = Dimension::rows}, {row}, {row.spec}, {0}),
      Error);
  EXPECT_THROW(run_on(device, LayernormBackwardAttributes{}, {x, row, statistic, statistic, x},
                      three, {0, 0}),
               Error)
      << "two results in one place";
}

}  // namespace
}  // namespace howard::host
