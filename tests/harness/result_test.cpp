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

}  // namespace
}  // namespace howard::harness
