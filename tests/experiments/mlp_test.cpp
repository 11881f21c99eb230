// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::PointResult;

const std::vector<PointResult>& engines() {
  static const auto points = run_emulated(*make_experiment("mlp_engines", built_in_box()));
  return points;
}
const std::vector<PointResult>& shapes() {
  static const auto points = run_emulated(*make_experiment("shape_sweep", built_in_box()));
  return points;
}

TEST(MlpEngines, EveryPublishedRowHasItsPoint) {
  EXPECT_EQ(published_without_point("mlp_engines", engines()), "");
  EXPECT_EQ(published_without_point("shape_sweep", shapes()), "");
}

TEST(MlpEngines, CallsAndLaunchesAreThoseOfEachPublishedEngine) {
  const auto expect = [](const std::string& engine, const char* calls, const char* launches) {
    const PointResult& point = find(engines(), "engine:" + engine + "/variant:as_published");
    EXPECT_EQ(*point.find_detail("calls"), calls) << engine;
    EXPECT_EQ(*point.find_detail("launches"), launches) << engine;
  };
  expect("python", "20", "21");
  expect("dynamic", "32", "33");
  expect("static", "24", "25");
  expect("traced", "24", "25");
}

TEST(MlpEngines, TheOpListNamesEveryCall) {
  for (const PointResult& point : engines()) {
    const std::string* const list = point.find_detail("op_list");
    if (list == nullptr) continue;
    int sum = 0;
    for (const std::string& entry : split(*list, ',')) {
      sum += std::stoi(entry.substr(entry.rfind(' ')));
    }
    EXPECT_EQ(std::to_string(sum), *point.find_detail("calls")) << point.id();
    EXPECT_NE(list->find("matmul "), std::string::npos) << *list;
  }
  const std::string& replay =
      *find(engines(), "engine:traced/variant:corrected").find_detail("op_list");
  const std::string& before =
      *find(engines(), "engine:static/variant:corrected").find_detail("op_list");
  EXPECT_EQ(replay, before) << "a replay is the calls it was made of";
}

TEST(MlpEngines, TheHostBoundsAllButTheReplay) {
  for (const char* const engine : {"python", "dynamic", "static"}) {
    const PointResult& point =
        find(engines(), std::string("engine:") + engine + "/variant:as_published");
    EXPECT_EQ(*point.find_detail("bound_by"), "host") << engine;
  }
  EXPECT_EQ(*find(engines(), "engine:traced").find_detail("bound_by"), "kernels: matmul");
}

TEST(MlpEngines, EachEngineIsFasterThanTheOneBeforeAsPublished) {
  for (const char* const dispatch : {"worker", "eth"}) {
    double before = 1;
    for (const char* const engine : {"python", "dynamic", "static", "traced"}) {
      const std::string part =
          std::string("engine:") + engine +
          "/variant:as_published/batch:1024/dim:512/layers:2/dispatch:" + dispatch;
      const double now = seconds(engines(), part);
      EXPECT_GT(now, 0) << part;
      EXPECT_LT(now, before) << part;
      before = now;
    }
  }
}

TEST(MlpEngines, PublishedReplaysAreSaidNotToTrain) {
  EXPECT_FALSE(find(engines(), "engine:traced/variant:as_published").warnings.empty());
  EXPECT_TRUE(find(engines(), "engine:traced/variant:corrected").warnings.empty());
}

TEST(MlpEngines, ValuesAreKeptByTheHostWhereOnlyThePublishedReplayDoesNotTrain) {
  const auto points = run_host(*make_experiment("mlp_engines", built_in_box()),
                               {{"batch", {"32"}},
                                {"dim", {"32"}},
                                {"engine", {"python", "static", "traced", "traced_fused"}}});
  for (const PointResult& point : points) {
    EXPECT_FALSE(point.failed) << point.id();
    const bool is_python = point.id().find("python") != std::string::npos;
    if (is_python && point.skipped) continue;  // not every machine has it
    EXPECT_FALSE(point.skipped.has_value()) << point.id();
    ASSERT_NE(point.find_metric("loss"), nullptr) << point.id();
    EXPECT_EQ(point.find_metric("loss")->unit, "");
    const bool stuck = point.id().find("engine:traced") != std::string::npos &&
                       point.id().find("variant:as_published") != std::string::npos;
    EXPECT_EQ(point.find_detail("loss")->find("does not fall") != std::string::npos, stuck)
        << point.id() << ": " << *point.find_detail("loss");
    EXPECT_EQ(point.warnings.empty(), !stuck) << point.id();
  }
}

TEST(ShapeSweep, TracingPaysMostForSmallShapesAndLittleForLarge) {
  const auto gain = [](const std::string& shape) {
    return find(shapes(), "engine:traced/variant:as_published/" + shape).find_metric("gain")->value;
  };
  EXPECT_GT(gain("batch:256/dim:256"), 4);
  EXPECT_GT(gain("batch:256/dim:2048"), 1.1);
  EXPECT_LT(gain("batch:4096/dim:2048"), 1.3);
}

TEST(ShapeSweep, ThePointWhereTracingStopsPayingIsWhereTheSameCallsTakeAsLong) {
  const auto below = [](const std::string& dim) {
    return *find(shapes(), "engine:traced/variant:as_published/batch:256/dim:" + dim)
                .find_detail("pays_below");
  };
  EXPECT_EQ(below("2048"), "no batch");
  const std::string batch = below("1024").substr(std::string("batch ").size());
  const auto ratio = [](const std::string& at) {
    const auto points = run_emulated(*make_experiment("shape_sweep", built_in_box()),
                                     {{"engine", {"static", "traced"}},
                                      {"variant", {"corrected"}},
                                      {"batch", {at}},
                                      {"dim", {"1024"}}});
    return seconds(points, "engine:static") / seconds(points, "engine:traced");
  };
  EXPECT_LT(ratio(batch), 1.06);
  EXPECT_GT(ratio("32"), 1.1);
}

TEST(MlpDepth, ALayerCostsTheSameAtAnyDepth) {
  const auto points = run_emulated(*make_experiment("mlp_depth", built_in_box()));
  EXPECT_EQ(points.size(), 16U);
  for (const char* const dim : {"256", "2048"}) {
    const auto layer = [&](const std::string& layers) {
      return find(points, "layers:" + layers + "/dim:" + dim).find_metric("layer_time")->value;
    };
    EXPECT_NEAR(layer("16"), layer("4"), 0.05 * layer("4")) << dim;
  }
}

}  // namespace
}  // namespace howard::experiments
