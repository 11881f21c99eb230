// SPDX-License-Identifier: Apache-2.0
#include "experiments/axes/axes.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard::experiments {
namespace {

TEST(ShapeAxis, OneNumberIsASquareProduct) {
  const harness::Axis axis = kShape.with({});
  EXPECT_EQ(axis.canonical("512"), "512x512x512");
  EXPECT_EQ(axis.canonical("512x1024x2048"), "512x1024x2048");
  const ProductShape shape = kShape.parse("1x2x3");
  EXPECT_EQ(shape.m, 1);
  EXPECT_EQ(shape.k, 2);
  EXPECT_EQ(shape.n, 3);
}

TEST(ShapeAxis, NonsenseIsAnErrorThatShowsTheRightForm) {
  for (const char* const bad : {"", "0", "-5", "abc", "1x2", "1x2x3x4", "12ab", "1x0x3", "1.5",
                                "99999999999999999999", "2000000"}) {
    EXPECT_THROW(kShape.parse(bad), Error) << bad;
  }
  const std::string message = error_of([&] { kShape.parse("abc"); });
  EXPECT_EQ(message,
            "cannot set axis shape: 'abc'; accepted: N or MxKxN, whole numbers from 1 to "
            "1048576; try -a shape=1024,512x1024x2048");
}

TEST(GridAxis, DefaultOrColumnsByRows) {
  EXPECT_EQ(kGrid.parse("default"), std::nullopt);
  EXPECT_EQ(kGrid.parse("4x7"), (CoreGrid{4, 7}));
  for (const char* const bad : {"", "4", "4x", "x7", "0x7", "4x7x1", "4x65", "axb"}) {
    EXPECT_THROW(kGrid.parse(bad), Error) << bad;
  }
}

TEST(FidelityAxis, CanonicalSpellingIsTheHardwares) {
  EXPECT_EQ(kFidelity.with({}).canonical("hifi4"), "HiFi4");
  EXPECT_EQ(kFidelity.with({}).canonical("default"), "default");
  EXPECT_THROW(kFidelity.with({}).canonical("high"), Error);
}

TEST(DispatchAxis, WordsBecomeCoreTypes) {
  EXPECT_EQ(kDispatch.parse("worker"), chip::DispatchCoreType::worker);
  EXPECT_EQ(kDispatch.parse("eth"), chip::DispatchCoreType::eth);
  EXPECT_THROW(kDispatch.with({}).canonical("both"), Error);
}

TEST(Point, AMissingAxisIsItsNeutralValueOrAnError) {
  const harness::Parameters parameters{{"dispatch", "eth"}};
  const Point point(parameters);
  EXPECT_EQ(point[kDispatch], chip::DispatchCoreType::eth);
  EXPECT_EQ(point[kQueues], 1);
  EXPECT_FALSE(point.has(kQueues));
  EXPECT_EQ(error_of([&] { static_cast<void>(point[kShape]); }),
            "cannot read axis shape of a point: the point does not have it");
}

TEST(OptionalAxis, ItsNeutralValueIsThePointWithoutIt) {
  harness::Axis axis = kTrace.optional();
  axis.values = {"no", "yes"};
  const auto points = harness::expand(std::vector{axis});
  ASSERT_EQ(points.size(), 2U);
  EXPECT_TRUE(points[0].empty());
  EXPECT_EQ(points[1], (harness::Parameters{{"trace", "yes"}}));
}

}  // namespace
}  // namespace howard::experiments
