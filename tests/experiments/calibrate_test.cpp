// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "engines/chip/profiles/profile.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::Backend;
using harness::PointResult;

std::vector<PointResult> run(const harness::Experiment& experiment,
                             const std::vector<std::string>& subjects,
                             const std::string& evaluations = "60") {
  return harness::run_points(
      experiment,
      harness::plan_points(experiment,
                           {.overrides = {{"subject", subjects}, {"evaluations", {evaluations}}}}));
}

TEST(Calibrate, HasAPointForEachMeasuredQuantityAndEachCalibratedConstant) {
  const auto experiment = make_experiment("calibrate", built_in_box());
  const auto points = harness::plan_points(*experiment, {});
  const auto has = [&](const char* subject) {
    return std::ranges::any_of(points, [&](const PointResult& point) {
      return harness::find_parameter(point.parameters, "subject") == subject;
    });
  };
  EXPECT_TRUE(has("program_dispatch"));
  EXPECT_TRUE(has("matmul_traced.period"));
  EXPECT_TRUE(has("matmul_traced.math_end"));
  EXPECT_TRUE(has("eltwise_kernels")) << "functions, each with a constant of its own";
  EXPECT_TRUE(has("dispatch.program"));
  EXPECT_TRUE(has("dram.write.noc0")) << "of the chip";
  EXPECT_FALSE(has("noc.link")) << "a published measurement";
  EXPECT_TRUE(experiment->axes(Backend::host).empty());
}

TEST(Calibrate, ATablesPointHasItsErrorsBeforeAfterAndUnseen) {
  const auto points =
      run(*make_experiment("calibrate", built_in_box()), {"matmul_traced.period", "mlp_host"});
  ASSERT_EQ(points.size(), 2U);
  for (const PointResult& point : points) {
    for (const char* const name :
         {"start_median_error", "start_mean_error", "median_error", "mean_error", "p90_error",
          "worst_error", "left_out_median_error", "left_out_mean_error"}) {
      ASSERT_NE(point.find_metric(name), nullptr) << point.id() << " " << name;
      EXPECT_GT(point.find_metric(name)->value, 0);
    }
  }
  EXPECT_NE(points[0].find_metric("in_thirds_worst_error"), nullptr);
  EXPECT_EQ(points[1].find_metric("in_thirds_worst_error"), nullptr) << "two rows";
  EXPECT_EQ(*points[0].find_detail("rows"), "39");
}

TEST(Calibrate, FunctionsAreFittedEachToItsOwnRowsAndLeaveThemOutOneByOne) {
  const auto points = run(*make_experiment("calibrate", built_in_box()), {"eltwise_kernels"});
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(*points[0].find_detail("rows"), "144");
  EXPECT_LT(points[0].find_metric("mean_error")->value,
            points[0].find_metric("left_out_mean_error")->value);
  EXPECT_EQ(points[0].find_metric("start_mean_error"), nullptr) << "the profile is what was fitted";
}

TEST(Calibrate, AConstantsPointHasItsBoundsValuesAndCertainty) {
  const auto points = run(*make_experiment("calibrate", built_in_box()), {"host.op_call"});
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(*points[0].find_detail("bounds"), "15 to 60");
  EXPECT_EQ(*points[0].find_detail("start"), "24.1");
  EXPECT_EQ(*points[0].find_detail("tables"), "matmul_sweep, mlp_host");
  EXPECT_FALSE(points[0].find_detail("identified")->empty());
  EXPECT_EQ(points[0].find_metric("fitted_value")->unit, "us");
}

TEST(Calibrate, AConstantTheUserHasSetIsNoSubject) {
  const auto box = std::make_shared<const DevBox>(
      chip::load_constants({.profiles = {}, .settings = {"host.op_call=20us"}}),
      host::HostOptions{}, 1);
  const auto experiment = make_experiment("calibrate", box);
  EXPECT_THROW(run(*experiment, {"host.op_call"}), Error);
}

TEST(Calibrate, LeavesProfilesOnceItHasFitted) {
  const auto experiment = make_experiment("calibrate", built_in_box());
  EXPECT_TRUE(experiment->documents().empty());
  run(*experiment, {"mlp_host"});
  const auto documents = experiment->documents();
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].file_name, "calibrated_chip.json");
  EXPECT_EQ(documents[2].file_name, "ttnn_functions.json");
  EXPECT_TRUE(
      chip::Constants::parse(documents[2].text, "document", "software").contains("tiles.silu"));
  const auto software = chip::Constants::parse(documents[1].text, "document", "software");
  EXPECT_EQ(software.name(), "tt_metal_2025_12 calibrated");
}

TEST(Calibrate, EvaluationsAreAWholeNumber) {
  const auto experiment = make_experiment("calibrate", built_in_box());
  for (const char* const bad : {"0", "-3", "many", "1.5", "99999999999"}) {
    EXPECT_THROW(run(*experiment, {"mlp_host"}, bad), Error) << bad;
  }
}

}  // namespace
}  // namespace howard::experiments
