// SPDX-License-Identifier: Apache-2.0
#include "experiments/laboratory/presentations.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace howard::experiments {
namespace {

harness::ExperimentResult result_of(const std::string& name) {
  return {.experiment = name,
          .context = {},
          .points = {{.parameters = {{"model", "gpt2"}},
                      .metrics = {{.name = "time", .value = 1, .unit = "s"}}}}};
}

TEST(Presentations, EveryVerbsResultIsShownByItsOwnColumns) {
  const Presentations presentations;
  for (const char* const name :
       {"matmul_sweep", "fidelity", "train", "generate", "explain", "tune"}) {
    const auto columns = presentations.of(result_of(name)).presentation.columns;
    EXPECT_GT(columns.size(), 2U) << name;
  }
}

TEST(Presentations, OfAnUnknownExperimentEverythingIsShown) {
  const auto columns = Presentations().of(result_of("of_another_version")).presentation.columns;
  ASSERT_EQ(columns.size(), 2U);
  EXPECT_EQ(columns[0].name, "model");
  EXPECT_EQ(columns[1].name, "time");
}

TEST(Presentations, UnknownExperimentsFollowThoseOfTheList) {
  std::vector<harness::ExperimentResult> results{
      result_of("new"), result_of("tune"), result_of("two_queues"), result_of("matmul_sweep")};
  Presentations().sort(results);
  std::vector<std::string> names;
  for (const auto& result : results) names.push_back(result.experiment);
  EXPECT_EQ(names, (std::vector<std::string>{"matmul_sweep", "two_queues", "tune", "new"}));
}

TEST(Presentations, OnlyAnExperimentWithTablesOfItsOwnAddsThemToAPage) {
  const Presentations presentations;
  EXPECT_FALSE(presentations.page_tables("fidelity").empty());
  EXPECT_TRUE(presentations.page_tables("matmul_sweep").empty());
  EXPECT_TRUE(presentations.page_tables("of_another_version").empty());
}

}  // namespace
}  // namespace howard::experiments
