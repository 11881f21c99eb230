// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::PointResult;

class Fidelity : public ::testing::Test {
 protected:
  std::vector<PointResult> run(std::vector<std::string> subjects) const {
    return run_emulated(*list_.back(), {{"subject", std::move(subjects)}});
  }

  ExperimentList list_ = [] {
    ExperimentList list;
    const auto box = built_in_box();
    list.push_back(matmul_sweep(box));
    list.push_back(two_queues(box));
    list.push_back(fidelity(list, true));
    return list;
  }();
};

TEST_F(Fidelity, EveryPublishedRowOfEveryExperimentIsASubject) {
  std::size_t published = 0;
  for (const char* const name : {"matmul_sweep", "two_queues"}) {
    for (const auto& table : reports::reference_tables(name)) published += table.rows.size();
  }
  const auto points = run_emulated(*list_.back());
  EXPECT_EQ(std::ranges::count_if(points,
                                  [](const PointResult& point) {
                                    return point.find_detail("kind") != nullptr &&
                                           *point.find_detail("kind") == "published rows" &&
                                           point.reference.has_value();
                                  }),
            static_cast<std::ptrdiff_t>(published));
}

TEST_F(Fidelity, ARowIsThePointOfItsExperiment) {
  const std::string subject = "matmul_sweep.1/shape:1024x1024x1024/dispatch:eth";
  const auto points = run({subject});
  const auto sweep =
      run_emulated(*list_.front(), {{"shape", {"1024x1024x1024"}}, {"dispatch", {"eth"}}});
  EXPECT_EQ(points[0].find_metric("time")->virtual_time,
            sweep[0].find_metric("time")->virtual_time);
  EXPECT_EQ(points[0].relative_error(), sweep[0].relative_error());
  EXPECT_EQ(*points[0].find_detail("status"), "prediction");
}

TEST_F(Fidelity, ASummaryLeavesArtefactsOutOfItsErrors) {
  const PointResult summary = run({"two_queues.1"})[0];
  EXPECT_EQ(*summary.find_detail("rows"), "12");
  EXPECT_EQ(*summary.find_detail("compared"), "10");
  EXPECT_EQ(*summary.find_detail("artefacts"), "2");
  const auto points = run_emulated(*list_[1]);
  double sum = 0;
  double worst = 0;
  for (const PointResult& point : points) {
    if (!point.reference || point.reference->status == "artefact") continue;
    sum += std::abs(*point.relative_error());
    worst = std::max(worst, std::abs(*point.relative_error()));
  }
  EXPECT_DOUBLE_EQ(summary.find_metric("mean_error")->value, sum / 10);
  EXPECT_DOUBLE_EQ(summary.find_metric("worst_error")->value, worst);
}

TEST_F(Fidelity, AnotherChipHasNothingToCompareWith) {
  ExperimentList list;
  list.push_back(matmul_sweep(built_in_box()));
  list.push_back(fidelity(list, false));
  const auto points = run_emulated(*list.back());
  ASSERT_EQ(points.size(), 1U);
  EXPECT_TRUE(points[0].skipped.has_value());
  EXPECT_FALSE(points[0].failed);
}

}  // namespace
}  // namespace howard::experiments
