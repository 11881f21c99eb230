// SPDX-License-Identifier: Apache-2.0
#include "base/pattern.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard {
namespace {

TEST(Pattern, FindsWhereItMatches) {
  const Pattern pattern("shape:(64|128)", "test");
  const auto found = pattern.find("matmul/shape:128");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begin, 7U);
  EXPECT_EQ(found->end, 16U);
  EXPECT_FALSE(pattern.find("shape:128", 1));
  EXPECT_FALSE(pattern.find("shape:\xff"));
}

TEST(Pattern, AnExpressionThatNestsDeeplyIsAnErrorAndNoCrash) {
  std::string deep(12'001, '(');
  deep.resize(24'002, ')');
  const std::string failure = error_of([&] { Pattern(deep, "test it"); });
  EXPECT_TRUE(failure.starts_with("cannot test it: '((((") && failure.size() < 300) << failure;
  EXPECT_NE(error_of([] { Pattern("a(", "test"); }), "");
}

TEST(Pattern, ASearchThatWouldRunOnIsAnError) {
  const std::string subject(60, 'z');
  const Pattern slow("(.*)*(.*)*(.*)*[xy]$", "test");
  EXPECT_NE(error_of([&] { static_cast<void>(slow.find(subject)); }), "");
}

}  // namespace
}  // namespace howard
