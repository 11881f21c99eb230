// SPDX-License-Identifier: Apache-2.0
#include "engines/program/op_attributes.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace howard {
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

TEST(OpAttributes, FlagsAndMembersAreRead) {
  EXPECT_EQ(kAttributes.flag("transpose_a"), false);
  EXPECT_EQ(kAttributes.flag("transpose_b"), true);
  EXPECT_EQ(kAttributes.member("kernel", "fp32"), "1");
  EXPECT_EQ(kAttributes.member("kernel", "lity"), std::nullopt) << "it is the end of another name";
}

TEST(OpAttributes, AVersionsUnderscoreAtTheEndOfANameDoesNotMatter) {
  EXPECT_EQ(OpAttributes("{'pool_type_': 'MAX'}").find("pool_type"), "MAX");
  EXPECT_EQ(OpAttributes("{'pool_types': 'MAX'}").find("pool_type"), std::nullopt);
}

TEST(OpAttributes, AMembersValueMayHaveStructsOfItsOwn) {
  const std::string_view text = "Config(grid=(x=8;y=7);chain=Unary<float; int>(a=1;b={2; 3});n=4)";
  EXPECT_EQ(ttnn_member(text, "grid"), "(x=8;y=7)");
  EXPECT_EQ(ttnn_member(text, "chain"), "Unary<float; int>(a=1;b={2; 3})");
  EXPECT_EQ(ttnn_member(text, "n"), "4");
  std::string all;
  for (const auto& [name, value] : ttnn_members(text)) {
    EXPECT_EQ(ttnn_member(text, name), value) << name;
    all += std::string(name) + " ";
  }
  EXPECT_EQ(all, "grid chain n ");
  EXPECT_TRUE(ttnn_members("std::nullopt").empty());
  EXPECT_TRUE(ttnn_members("Cut(a").empty());
}

TEST(OpAttributes, CoresAreReadAsVersionsPrintThem) {
  EXPECT_EQ(parse_ttnn_grid("(x=8;y=7)"), (CoreGrid{8, 7}));
  EXPECT_EQ(parse_ttnn_grid("8-7"), (CoreGrid{8, 7}));
  EXPECT_EQ(parse_ttnn_range("{[(x=0;y=0) - (x=7;y=6)]}"), (CoreGrid{8, 7}));
  EXPECT_EQ(parse_ttnn_range("{[0-0 - 10-9]}"), (CoreGrid{11, 10}));
  for (const char* const other : {"(x=0;y=7)", "(x=8;y=7", "8-", "8", ""}) {
    EXPECT_EQ(parse_ttnn_grid(other), std::nullopt) << other;
  }
  for (const char* const other : {"(x=8;y=7)", "{[(x=1;y=0) - (x=7;y=6)]}", "{[1-0 - 7-6]}"}) {
    EXPECT_EQ(parse_ttnn_range(other), std::nullopt) << other;
  }
}

TEST(OpAttributes, WhatNobodyAskedForIsUnread) {
  const OpAttributes cell(
      "{'dim': '3'; 'config': 'Config(grid=(x=8;y=7);block=2)'; 'other': 'Config(kind=1)'; "
      "'absent': 'std::nullopt'; 'off': 'false'; 'zero': '0'; 'use_welford': '1'}");
  EXPECT_EQ(cell.unread().size(), 4U);
  EXPECT_EQ(cell.find("dim"), "3");
  EXPECT_EQ(cell.anywhere("kind"), "1") << "of the struct that has it";
  EXPECT_EQ(cell.member("config", "block"), "2");
  ASSERT_EQ(cell.unread().size(), 1U);
  EXPECT_EQ(cell.unread()[0], (std::pair<std::string_view, std::string_view>("use_welford", "1")));
  EXPECT_TRUE(OpAttributes("{'cut': 'in the mid").unread().empty());
  EXPECT_TRUE(OpAttributes("").unread().empty());
}

TEST(OpAttributes, OtherValuesOfAFlagAreErrors) {
  EXPECT_THROW(static_cast<void>(kAttributes.flag("last")), Error);
}

}  // namespace
}  // namespace howard
