// SPDX-License-Identifier: Apache-2.0
#include "harness/result.h"

#include <gtest/gtest.h>

namespace howard::harness {
namespace {

PointResult point() {
  return {.backend = Backend::emulated,
          .parameters = {{"shape", "128x128x128"}, {"dispatch", "eth"}},
          .metrics = {{.name = "time", .value = 110, .unit = "s"}},
          .reference = Reference{.metric = "time", .value = 100, .unit = "s"}};
}

TEST(PointResult, IdNamesBackendAndEveryParameter) {
  EXPECT_EQ(point().id(), "emulated/shape:128x128x128/dispatch:eth");
}

TEST(PointResult, ErrorIsRelativeToThePublishedFigure) {
  EXPECT_NEAR(point().relative_error().value(), 0.1, 1e-12);
  PointResult without = point();
  without.reference->metric = "throughput";
  EXPECT_EQ(without.relative_error(), std::nullopt) << "the point lacks that metric";
  without.reference.reset();
  EXPECT_EQ(without.relative_error(), std::nullopt);
}

TEST(PointResult, LooksUpByNameOrSaysThereIsNone) {
  const PointResult p = point();
  EXPECT_EQ(p.find_metric("time")->value, 110);
  EXPECT_EQ(p.find_metric("rate"), nullptr);
  EXPECT_EQ(p.find_detail("bound_by"), nullptr);
  EXPECT_EQ(find_parameter(p.parameters, "dispatch"), "eth");
  EXPECT_EQ(find_parameter(p.parameters, "grid"), std::nullopt);
}

TEST(PointResult, HoldsFactsInTheWordsOfItsDetails) {
  PointResult p = point();
  EXPECT_EQ(p.find(kShortage), std::nullopt) << "nobody asked whether it fits";
  p.add(kShortage, "over by 3.2 GB");
  p.add(kStepsDone, 40);
  p.add(kBoundBy, "unpack");
  EXPECT_EQ(p.find(kShortage), "over by 3.2 GB");
  EXPECT_EQ(p.find(kStepsDone), 40);
  EXPECT_EQ(p.find(kBoundBy), "unpack");
  using Words = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(p.details,
            (Words{{"fits", "over by 3.2 GB"}, {"steps_done", "40"}, {"bound_by", "unpack"}}));
  PointResult fitting = point();
  fitting.add(kShortage, "");
  EXPECT_EQ(fitting.find(kShortage), "") << "it is known that it fits";
  EXPECT_EQ(*fitting.find_detail("fits"), "yes");
}

TEST(PointResult, AnExpectedErrorIsAShareAndWhatItRestsOn) {
  PointResult p = point();
  EXPECT_FALSE(p.expected_error());
  p.add(ExpectedError{.share = 0.06, .known = "calibrated 82 %, by analogy 18 %"});
  EXPECT_EQ(p.find_metric("expected_error")->value, 0.06);
  EXPECT_EQ(p.expected_error()->share, 0.06);
  EXPECT_EQ(p.expected_error()->known, "calibrated 82 %, by analogy 18 %");
}

TEST(CommandResult, HasTheNameOfItsFile) {
  EXPECT_EQ(name_of(CommandResult::train), "train");
  EXPECT_EQ(name_of(CommandResult::compare_emulated), "compare_emulated");
  EXPECT_EQ(name_of(CommandResult::log_host_ops), "log_host_ops");
  EXPECT_EQ(name_of(CommandResult::log_advice), "log_advice");
}

}  // namespace
}  // namespace howard::harness
