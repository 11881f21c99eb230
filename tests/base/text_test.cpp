// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

namespace howard {
namespace {

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(split("a,", ','), (std::vector<std::string>{"a", ""}));
}

TEST(Text, LowerCaseLeavesAllButTheLettersAToZ) {
  EXPECT_EQ(lower_case("BFLOAT8_B, \xC3\x84"), "bfloat8_b, \xC3\x84");
}

TEST(Text, JoinIsTheInverseOfSplit) {
  EXPECT_EQ(join(split("a,,b", ','), ","), "a,,b");
  EXPECT_EQ(join({}, ","), "");
}

TEST(Text, NumbersAreReadWholeOrNotAtAll) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("12x"), std::nullopt);
  EXPECT_EQ(parse_integer(""), std::nullopt);
  EXPECT_EQ(parse_integer("99999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_number("2.5e3"), 2500.0);
  EXPECT_EQ(parse_number("nan"), std::nullopt);
  EXPECT_EQ(parse_number("inf"), std::nullopt);
}

TEST(Text, NaturalNumbersDoNotWrapAround) {
  EXPECT_EQ(parse_natural("18446744073709551615"), 18446744073709551615U);
  for (const char* const bad : {"-1", "18446744073709551616", "+1", " 1", "0x10", ""}) {
    EXPECT_EQ(parse_natural(bad), std::nullopt) << bad;
  }
}

TEST(Text, AShellWordIsQuotedWhereAShellWouldReadMore) {
  EXPECT_EQ(shell_word("shape=512x512x512"), "shape=512x512x512");
  EXPECT_EQ(shell_word("noc.link=14 B/cycle"), "'noc.link=14 B/cycle'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Text, WhatALibrarySaysOfJsonIsSaidInWords) {
  EXPECT_EQ(json_failure("[json.exception.parse_error.101] parse error at line 1, column 7: syntax "
                         "error while parsing value - unexpected '}'"),
            "it is not JSON at line 1, column 7");
  EXPECT_EQ(json_failure("[json.exception.out_of_range.406] number overflow parsing '1e999'"),
            "it has a number without limit");
  EXPECT_EQ(json_failure("anything else"), "it is not JSON");
}

TEST(Text, ClosestFindsTyposAndOffersNoWildGuess) {
  const std::array<std::string, 3> names{"matmul_sweep", "mlp_engines", "gpt2_trace"};
  EXPECT_EQ(closest("matmul_swep", names), "matmul_sweep");
  EXPECT_EQ(closest("matmlu_sweep", names), "matmul_sweep");
  EXPECT_EQ(closest("mlp-engine", names), "mlp_engines");
  EXPECT_EQ(closest("MATMUL_SWEEP", names), "matmul_sweep");
  EXPECT_EQ(closest("softmax", names), std::nullopt);
  EXPECT_EQ(closest("x", {}), std::nullopt);
}

}  // namespace
}  // namespace howard
