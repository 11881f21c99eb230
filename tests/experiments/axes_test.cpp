// SPDX-License-Identifier: Apache-2.0
#include "experiments/axes/axes.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard::experiments {
namespace {

TEST(ShapeAxis, OneNumberIsASquareProduct) {
  const harness::Axis axis = shape_axis({}, {});
  EXPECT_EQ(axis.canonical("512"), "512x512x512");
  EXPECT_EQ(axis.canonical("512x1024x2048"), "512x1024x2048");
  const ProductShape shape = parse_shape("1x2x3");
  EXPECT_EQ(shape.m, 1);
  EXPECT_EQ(shape.k, 2);
  EXPECT_EQ(shape.n, 3);
}

TEST(ShapeAxis, NonsenseIsAnErrorThatShowsTheRightForm) {
  for (const char* const bad : {"", "0", "-5", "abc", "1x2", "1x2x3x4", "12ab", "1x0x3", "1.5",
                                "99999999999999999999", "2000000"}) {
    EXPECT_THROW(parse_shape(bad), Error) << bad;
  }
  const std::string message = error_of([&] { parse_shape("abc"); });
  EXPECT_EQ(message,
            "cannot set axis shape: 'abc'; accepted: N or MxKxN, whole numbers from 1 to "
            "1048576; try -a shape=1024,512x1024x2048");
}

TEST(GridAxis, DefaultOrColumnsByRows) {
  EXPECT_EQ(parse_grid("default"), std::nullopt);
  EXPECT_EQ(parse_grid("4x7"), (CoreGrid{4, 7}));
  for (const char* const bad : {"", "4", "4x", "x7", "0x7", "4x7x1", "4x65", "axb"}) {
    EXPECT_THROW(parse_grid(bad), Error) << bad;
  }
}

TEST(FidelityAxis, CanonicalSpellingIsTheHardwares) {
  EXPECT_EQ(fidelity_axis().canonical("hifi4"), "HiFi4");
  EXPECT_EQ(fidelity_axis().canonical("default"), "default");
  EXPECT_THROW(fidelity_axis().canonical("high"), Error);
}

TEST(DispatchAxis, WordsBecomeCoreTypes) {
  EXPECT_EQ(parse_dispatch("worker"), chip::DispatchCoreType::worker);
  EXPECT_EQ(parse_dispatch("eth"), chip::DispatchCoreType::eth);
  EXPECT_THROW(dispatch_axis().canonical("both"), Error);
}

}  // namespace
}  // namespace howard::experiments
