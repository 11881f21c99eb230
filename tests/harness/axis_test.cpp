// SPDX-License-Identifier: Apache-2.0
#include "harness/axis.h"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>

#include "base/error.h"
#include "harness/what_if.h"
#include "tests/error_of.h"

namespace howard::harness {
namespace {

TEST(WordAxis, ItsMeaningNamesAllWords) {
  const Axis axis = word_axis("sync", "when the host waits", {"each", "end"}, {"each"});
  EXPECT_EQ(axis.meaning, "when the host waits (each, end)");
  EXPECT_EQ(word_axis("type", "float32, bfloat16", {"float32", "bfloat16"}, {}).meaning,
            "float32, bfloat16");
}

TEST(Axis, OverridesAreReadFromOneWord) {
  const AxisOverride override = parse_axis_override("shape=1024,512x1024x2048");
  EXPECT_EQ(override.axis, "shape");
  EXPECT_EQ(override.values, (std::vector<std::string>{"1024", "512x1024x2048"}));
  EXPECT_THROW(parse_axis_override("shape"), Error);
  EXPECT_THROW(parse_axis_override("=1"), Error);
  EXPECT_THROW(parse_axis_override("shape="), Error);
}

TEST(Axis, GivenTwiceIsRefusedAndNotHalfKept) {
  const std::array texts{std::string("shape=32"), std::string("dtype=float32"),
                         std::string("shape=64")};
  EXPECT_EQ(parse_axis_overrides(std::span(texts).first(2)).size(), 2U);
  const ErrorText refusal = error_parts_of([&] { parse_axis_overrides(texts); });
  EXPECT_EQ(refusal.value, "it is given twice, as 32 and as 64");
  EXPECT_EQ(refusal.hint, "-a shape=64,32");
}

TEST(Axis, ProductRunsTheLastAxisFastest) {
  const std::array axes{word_axis("a", "", {"1", "2"}, {"1", "2"}),
                        word_axis("b", "", {"x", "y"}, {"x", "y"})};
  std::string order;
  for (const Parameters& point : expand(axes)) {
    order += *find_parameter(point, "a");
    order += *find_parameter(point, "b");
    order += ' ';
  }
  EXPECT_EQ(order, "1x 1y 2x 2y ");
}

TEST(Axis, AnOptionalOneIsOnlyInPointsThatAskForIt) {
  std::vector<Axis> axes{word_axis("a", "", {"1", "2"}, {"1", "2"}),
                         word_axis("b", "", {"x", "y"}, {})};
  EXPECT_EQ(expand(axes), (std::vector<Parameters>{{{"a", "1"}}, {{"a", "2"}}}));
  apply_overrides(axes, std::array{AxisOverride{"b", {"y"}}});
  EXPECT_EQ(expand(axes).back(), (Parameters{{"a", "2"}, {"b", "y"}}));
}

TEST(WhatIf, ChangesReplaceAxesAndAddThoseThatAreMissing) {
  const Parameters point{{"a", "1"}, {"b", "x"}};
  EXPECT_EQ(changed(point, {{"c", "3"}, {"a", "2"}}),
            (Parameters{{"a", "2"}, {"b", "x"}, {"c", "3"}}));
}

TEST(Axis, OverridesReplaceValuesAndDropRepetitions) {
  std::vector<Axis> axes{word_axis("a", "", {"1", "2", "3"}, {"1", "2"})};
  apply_overrides(axes, std::array{AxisOverride{"a", {"3", "1", "3"}}});
  EXPECT_EQ(axes[0].values, (std::vector<std::string>{"3", "1"}));
}

TEST(Axis, AWordThatIsNotOnTheListIsAnErrorWithASuggestion) {
  std::vector<Axis> axes{word_axis("dispatch", "", {"worker", "eth"}, {"worker"})};
  const ErrorText refusal = error_parts_of([&] {
    apply_overrides(axes, std::array{AxisOverride{"dispatch", {"wroker"}}});
  });
  EXPECT_EQ(refusal.hint, "-a dispatch=worker");
  EXPECT_EQ(refusal.accepted, "worker, eth");
}

}  // namespace
}  // namespace howard::harness
