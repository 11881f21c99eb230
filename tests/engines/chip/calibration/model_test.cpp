// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "engines/chip/calibration/error_summary.h"
#include "engines/chip/calibration/fit.h"
#include "reports/published/reference.h"
#include "tests/engines/chip/calibration/synthetic.h"
#include "tests/error_of.h"

namespace howard::calibration {
namespace {

/// Returns the errors of a built-in table with the built-in profiles.
ErrorSummary errors_of(const std::string& name, std::size_t quantity = 0) {
  const Fit fit(chip::load_constants(), testing::tables_of({name}));
  return summarise(fit.residuals(fit.start_values()), 0, quantity);
}

// These tests say how true the emulator is to measured silicon. The project has set itself the
// limits; a change of the model or of a constant that breaks one has made it worse.

TEST(Truth, ProgramDispatchIsWithinThreePercentInTheMedian) {
  const ErrorSummary errors = errors_of("program_dispatch");
  EXPECT_EQ(errors.rows, 236U);
  EXPECT_LE(errors.median, 0.03);
  EXPECT_LE(errors.p90, 0.15);
  EXPECT_LE(errors.worst, 0.30);
}

TEST(Truth, DefaultProductsAreWithinEightPercentInTheMedianAndTwentyFiveAtWorst) {
  const ErrorSummary period = errors_of("matmul_traced", 0);
  EXPECT_EQ(period.rows, 39U);
  EXPECT_LE(period.median, 0.08);
  EXPECT_LE(period.worst, 0.25);
  const ErrorSummary math = errors_of("matmul_traced", 1);
  EXPECT_LE(math.median, 0.08);
  EXPECT_LE(math.worst, 0.25);
}

TEST(Truth, OpKernelsAndExpAreWithinTwelvePercentInTheMedian) {
  EXPECT_LE(errors_of("exp_kernel").median, 0.12);
  EXPECT_LE(errors_of("op_kernels").median, 0.12);
  EXPECT_LE(errors_of("op_changes").median, 0.12);
}

TEST(Truth, ReportRowsThatAMechanismExplains) {
  EXPECT_LE(errors_of("matmul_sweep").median, 0.05);
  EXPECT_LE(errors_of("mlp_host").worst, 0.10);
  EXPECT_LE(errors_of("mlp_traced").median, 0.04);
}

/// A row of the report is calibrated on the value with which results are compared.
TEST(Measurements, RowsOfTheReportAreTheReferenceOnes) {
  const MeasurementTable table = testing::tables_of({"matmul_sweep"})[0];
  const auto references = reports::reference_tables("matmul_sweep");
  ASSERT_FALSE(references.empty());
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto& published = references[0].rows;
    const auto found = std::ranges::find_if(published, [&](const reports::ReferenceRow& candidate) {
      return harness::find_parameter(candidate.parameters, "shape") == table.text(row, "shape") &&
             harness::find_parameter(candidate.parameters, "dispatch") == "worker";
    });
    ASSERT_NE(found, published.end());
    EXPECT_EQ(found->status, "calibration");
    EXPECT_DOUBLE_EQ(found->value, table.seconds(row, table.measured[0]));
  }
}

TEST(Model, AnUnknownKindListsTheKnownOnes) {
  MeasurementTable table = testing::tables_of({"mlp_host"})[0];
  table.kind = "astrology";
  const std::string message = error_of([&] { make_model(table); });
  EXPECT_NE(message.find("program_dispatch"), std::string::npos);
}

TEST(Model, AStepsProgramsTakeTheirShapesFromTheRow) {
  MeasurementTable table = testing::tables_of({"mlp_traced"})[0];
  const chip::Profiles profiles = chip::load_profiles();
  table.programs = {"exp NxD"};
  std::vector<double> seconds(table.rows.size());
  make_model(table)->predict(profiles, seconds);
  EXPECT_LT(seconds[1], seconds[0]) << "256x256 is less than 1024x512";
  table.programs.clear();
  EXPECT_THROW(make_model(table), Error);
}

}  // namespace
}  // namespace howard::calibration
