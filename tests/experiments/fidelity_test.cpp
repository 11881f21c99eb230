// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "base/error.h"
#include "harness/what_if.h"
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
    for (const char* const name : {"matmul_sweep", "two_queues", "fidelity"}) {
      list.push_back(make_experiment(name, built_in_box()));
    }
    return list;
  }();
};

TEST_F(Fidelity, EveryPublishedRowOfEveryExperimentIsASubject) {
  std::size_t published = 0;
  for (const auto& experiment : emulated_experiments(built_in_box())) {
    for (const auto& table : reports::reference_tables(experiment->name())) {
      published += table.rows.size();
    }
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

/// Returns what published rows and the axis itself have on the axis, and a few words more.
std::vector<std::string> words_for(const std::string& experiment, const harness::Axis& axis) {
  std::vector<std::string> words = axis.values;
  for (const reports::ReferenceTable& table : reports::reference_tables(experiment)) {
    for (const reports::ReferenceRow& row : table.rows) {
      if (const auto value = harness::find_parameter(row.parameters, axis.name)) {
        words.emplace_back(*value);
      }
    }
  }
  for (const char* const word :
       {"yes",       "2",     "4x7",       "eth",    "64",
        "corrected", "LoFi",  "float32",   "end",    "96x96x96",
        "dynamic",   "1",     "paged",     "greedy", "composite",
        "fused",     "moreh", "bfloat8_b", "none",   "2d:grid=8x7:per_core=20x16:in0_block_w=8"}) {
    words.emplace_back(word);
  }
  return words;
}

/// Returns the point with another value on one axis; none if no word is one of its values.
std::optional<PointResult> with_another_value(const PointResult& point, const harness::Axis& axis,
                                              const std::vector<std::string>& words) {
  const std::string now(harness::find_parameter(point.parameters, axis.name).value_or("not set"));
  for (const std::string& word : words) {
    try {
      const std::string value = axis.canonical(word);
      if (value == now) continue;
      return PointResult{.backend = point.backend,
                         .parameters = harness::changed(point.parameters, {{axis.name, value}})};
    } catch (const Error&) {
      continue;
    }
  }
  return std::nullopt;
}

/// Returns whether a published row of the experiment says what the point has on this axis.
bool is_published_with(const std::string& experiment, const PointResult& point,
                       const std::string& axis) {
  for (const reports::ReferenceTable& table : reports::reference_tables(experiment)) {
    for (const reports::ReferenceRow& row : table.rows) {
      const bool is_row = std::ranges::all_of(row.parameters, [&](const auto& parameter) {
        return harness::find_parameter(point.parameters, parameter.first) == parameter.second;
      });
      if (is_row && harness::find_parameter(row.parameters, axis)) return true;
    }
  }
  return false;
}

TEST(PublishedFigures, StandBesideThePointThatWasPublishedAndNoOther) {
  constexpr auto kEmulated = harness::Backend::emulated;
  int published = 0;
  std::set<std::string> untried;
  for (const auto& experiment : emulated_experiments(built_in_box())) {
    harness::ExperimentResult result{.experiment = std::string(experiment->name()),
                                     .points = plan_points(*experiment, {.backends = {kEmulated}})};
    reports::attach_references(result);
    harness::ExperimentResult changed{.experiment = result.experiment};
    for (const PointResult& point : result.points) {
      if (point.reference) ++published;
      // PyTorch runs on no chip, so its figure is the same whatever is said of a chip.
      const bool on_a_chip = harness::find_parameter(point.parameters, "engine") != "torch";
      for (const harness::Axis& axis : experiment->axes(kEmulated)) {
        if (!point.reference || !on_a_chip) continue;
        const auto words = words_for(result.experiment, axis);
        if (auto other = with_another_value(point, axis, words)) {
          changed.points = {std::move(*other)};
        } else {
          untried.insert(result.experiment + " " + axis.name);
        }
        reports::attach_references(changed);
        for (const PointResult& other : changed.points) {
          EXPECT_TRUE(!other.reference || is_published_with(result.experiment, other, axis.name))
              << result.experiment << " " << axis.name << ": " << other.id();
        }
        changed.points.clear();
      }
    }
  }
  EXPECT_GE(published, 30);
  EXPECT_EQ(untried, std::set<std::string>()) << "words_for() has no second value of these axes";
}

TEST_F(Fidelity, BothValuesOfARowAreOfTheMetricThatWasPublished) {
  std::size_t compared = 0, rates = 0;
  for (const PointResult& point : run_emulated(*list_.back())) {
    const harness::Metric* const published = point.find_metric("published_time");
    if (published == nullptr) continue;
    ++compared;
    const double ratio = point.find_metric("emulated_time")->value / published->value;
    const bool is_rate = point.reference->unit != "s";
    rates += is_rate ? 1 : 0;
    EXPECT_NEAR(is_rate ? 1 / ratio : ratio, 1 + *point.relative_error(), 1e-9) << point.id();
  }
  EXPECT_GT(rates, 60U) << "rows of inference and vision";
  EXPECT_GT(compared, 180U);
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
  const auto other =
      built_in_box()->with(chip::load_constants({.profiles = {}, .settings = {"host.finish=1ms"}}));
  const auto points = run_emulated(*make_experiment("fidelity", other));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_TRUE(points[0].skipped.has_value());
  EXPECT_FALSE(points[0].failed);
}

}  // namespace
}  // namespace howard::experiments
