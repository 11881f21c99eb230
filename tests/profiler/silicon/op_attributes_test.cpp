// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/op_attributes.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace howard::profiler {
namespace {

const OpAttributes kAttributes(
    "{'transpose_a': 'false'; 'transpose_b': '1'; 'kernel': 'Config(fidelity=HiFi4;fp32=1)'; "
    "'chain': '{Unary(type=A::ERF;param={0})}'; 'none': 'std::nullopt'; 'grid': '(x=8;y=7)'; "
    "'range': '{[(x=0;y=0) - (x=7;y=6)]}'; 'last': '-1'}");

TEST(OpAttributes, AValueEndsBeforeTheNextName) {
  EXPECT_EQ(kAttributes.find("transpose_a"), "false");
  EXPECT_EQ(kAttributes.find("chain"), "{Unary(type=A::ERF;param={0})}");
  EXPECT_EQ(kAttributes.find("last"), "-1");
}

TEST(OpAttributes, WhatIsMissingOrNulloptIsAbsent) {
  EXPECT_EQ(kAttributes.find("transpose"), std::nullopt);
  EXPECT_EQ(kAttributes.find("none"), std::nullopt);
  EXPECT_EQ(kAttributes.member("kernel", "throttle"), std::nullopt);
  EXPECT_EQ(OpAttributes("").find("a"), std::nullopt);
  EXPECT_EQ(OpAttributes("{'a': 'cut off").find("a"), std::nullopt);
  EXPECT_EQ(OpAttributes("'}{'a': '").find("a"), std::nullopt);
}

TEST(OpAttributes, FlagsMembersAndGridsAreRead) {
  EXPECT_EQ(kAttributes.flag("transpose_a"), false);
  EXPECT_EQ(kAttributes.flag("transpose_b"), true);
  EXPECT_EQ(kAttributes.member("kernel", "fp32"), "1");
  EXPECT_EQ(kAttributes.core_grid("grid"), (CoreGrid{8, 7}));
  EXPECT_EQ(kAttributes.core_range("range"), (CoreGrid{8, 7}));
}

TEST(OpAttributes, OtherValuesAreErrors) {
  EXPECT_THROW(static_cast<void>(kAttributes.flag("last")), Error);
  EXPECT_THROW(static_cast<void>(kAttributes.core_grid("range")), Error);
  EXPECT_THROW(static_cast<void>(kAttributes.core_range("grid")), Error);
  const OpAttributes others("{'a': '(x=0;y=7)'; 'b': '{[(x=1;y=0) - (x=7;y=6)]}'}");
  EXPECT_THROW(static_cast<void>(others.core_grid("a")), Error);
  EXPECT_THROW(static_cast<void>(others.core_range("b")), Error);
}

}  // namespace
}  // namespace howard::profiler
