// SPDX-License-Identifier: Apache-2.0
#include "reports/pictures/palette.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string_view>

namespace howard::reports {
namespace {

TEST(Palette, PartsThatStandInOnePictureOfAModelHaveColoursOfTheirOwn) {
  const std::initializer_list<const char*> parts{
      "linear", "attention_softmax_", "scaled_dot_product_attention", "layer_norm", "conv2d",
      "add"};
  std::set<std::string_view> colors;
  for (const char* const part : parts) colors.insert(part_color(part));
  EXPECT_EQ(colors.size(), parts.size());
  EXPECT_EQ(part_color("attention_softmax_"), part_color("softmax"));
}

}  // namespace
}  // namespace howard::reports
