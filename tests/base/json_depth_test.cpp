// SPDX-License-Identifier: Apache-2.0
#include "base/json_depth.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard {
namespace {

std::string nested(int depth) {
  const auto count = static_cast<std::size_t>(depth);
  return std::string(count, '[') + std::string(count, ']');
}

TEST(JsonDepth, IsRefusedFromOneLevelTooManyOn) {
  EXPECT_NO_THROW(require_json_depth(nested(kMostJsonDepth), "read a.json"));
  const std::string message =
      error_of([&] { require_json_depth(nested(kMostJsonDepth + 1), "read a.json"); });
  EXPECT_EQ(message,
            "cannot read a.json: lists and objects lie in each other more than 200 deep; "
            "accepted: 200 levels at most");
  EXPECT_THROW(require_json_depth(std::string(100'000, '{'), "read a.json"), Error);
}

TEST(JsonDepth, BracketsThatFollowEachOtherOrStandInTextsDoNotCount) {
  std::string row, text = R"(["\"[\\", ")";
  for (int i = 0; i < kMostJsonDepth; ++i) {
    row += "[{}]";
    text += "[{";
  }
  EXPECT_NO_THROW(require_json_depth(row, "read a.json"));
  EXPECT_NO_THROW(require_json_depth(text + "\"]", "read a.json"));
}

}  // namespace
}  // namespace howard
