// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engines/chip/calibration/error_summary.h"
#include "tests/engines/chip/calibration/synthetic.h"

namespace howard::calibration {
namespace {

using testing::every_row;
using testing::measured_with;
using testing::place_of;
using testing::tables_of;

constexpr int kEvaluations = 800;

TEST(Calibration, TheFittedProfilesGiveTheFittedErrors) {
  const auto tables = measured_with({{"tiles.exp", 2200}}, tables_of({"exp_kernel", "mlp_host"}));
  const Calibration calibration(chip::load_constants(), tables, kEvaluations);
  const chip::ProfileConstants profiles = calibration.profiles();
  EXPECT_EQ(profiles.software.name(), "tt_metal_2025_12 calibrated");
  const auto& exp = profiles.software.at("tiles.exp");
  EXPECT_NEAR(exp.value, 2200, 22);
  EXPECT_EQ(exp.source, "calibrated on exp_kernel (32 rows)");
  EXPECT_EQ(profiles.software.at("dispatch.from_eth").source,
            chip::load_constants().software.at("dispatch.from_eth").source)
      << "no row depends on it: it is what it was";
  const Fit again(profiles, tables);
  EXPECT_EQ(again.objective(again.start_values(), every_row),
            calibration.fit().objective(calibration.fitted(), every_row));
}

TEST(Calibration, StartingWhereItEndedIsNotWorse) {
  const auto tables = tables_of({"exp_kernel", "op_changes"});
  const Calibration once(chip::load_constants(), tables, kEvaluations);
  const Calibration twice(once.profiles(), tables, kEvaluations);
  EXPECT_LE(twice.fit().objective(twice.fitted(), every_row),
            once.fit().objective(once.fitted(), every_row));
}

TEST(Calibration, ATableLeftOutIsPredictedFromTheOthers) {
  // Only mlp_host tells about host.op_call; without it the middle of the bounds is all that is
  // known.
  const auto tables = measured_with({}, tables_of({"exp_kernel", "mlp_host"}));
  const Calibration calibration(chip::load_constants(), tables, kEvaluations);
  const auto residuals = calibration.without_table(1);
  ASSERT_EQ(residuals.size(), 2U);
  const double middle =
      calibration.fit().middle_values()[place_of(calibration.fit(), "host.op_call")];
  for (const Residual& residual : residuals) {
    EXPECT_EQ(residual.table, 1U);
    EXPECT_NEAR(residual.error, (middle + 3.9) / (24.1 + 3.9) - 1, 1e-6);
  }
}

TEST(Calibration, EachRowIsInOneThirdAndPredictedUnseen) {
  const auto tables = measured_with({{"tiles.exp", 2200}}, tables_of({"exp_kernel"}));
  const Calibration calibration(chip::load_constants(), tables, kEvaluations);
  const auto residuals = calibration.in_thirds(0);
  ASSERT_EQ(residuals.size(), 32U);
  std::vector<std::size_t> rows;
  for (const Residual& residual : residuals) rows.push_back(residual.row);
  std::ranges::sort(rows);
  EXPECT_EQ(std::ranges::unique(rows).begin(), rows.end()) << "each once";
  EXPECT_LT(summarise(residuals, 0, 0).worst, 0.02) << "the other rows tell all about these";
}

}  // namespace
}  // namespace howard::calibration
