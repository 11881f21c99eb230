// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/function_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engines/chip/calibration/model.h"
#include "engines/chip/profiles/profiles.h"

namespace howard::calibration {
namespace {

chip::Profiles newer_profiles() {
  return chip::load_profiles({.profiles = {"tt_metal_2026_07"}, .settings = {}});
}

/// The median relative error of the rows of one shape.
double median_error(std::string_view shape, const chip::Profiles& profiles) {
  const MeasurementTable table = function_measurements();
  std::vector<double> seconds(table.rows.size());
  make_model(table)->predict(profiles, seconds);
  std::vector<double> errors;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (!table.text(row, "program").ends_with(shape)) continue;
    errors.push_back(std::abs(seconds[row] / table.seconds(row, table.measured[0]) - 1));
  }
  std::ranges::sort(errors);
  return errors.at(errors.size() / 2);
}

TEST(FunctionFit, TheProfileHoldsWhatTheFitGives) {
  const auto part = nlohmann::json::parse(chip::built_in_profile("ttnn_functions_2026_07"));
  const auto newer = nlohmann::json::parse(chip::built_in_profile("tt_metal_2026_07"));
  const auto times = fit_functions(function_measurements(), chip::load_profiles());
  EXPECT_EQ(part["constants"].size(), times.size());
  for (const FunctionTime& time : times) {
    SCOPED_TRACE(time.constant);
    ASSERT_TRUE(part["constants"].contains(time.constant));
    EXPECT_EQ(part["constants"][time.constant]["value"], time.cycles);
    // What the older profile has its own value of, the newer one takes back.
    if (newer["constants"].contains(time.constant)) {
      EXPECT_EQ(newer["constants"][time.constant]["value"], time.cycles);
    }
  }
}

TEST(FunctionFit, FindsTheTimesThatMadeTheRows) {
  chip::Profiles profiles = chip::load_profiles();
  const auto slot = static_cast<std::size_t>(Eltwise::silu);
  MeasurementTable table = function_measurements();
  std::erase_if(table.rows, [&](const auto& row) {
    return !std::get<std::string>(row[0]).starts_with("silu ");
  });
  ASSERT_EQ(table.rows.size(), 2U);
  const auto model = make_model(table);
  chip::Profiles slower = profiles;
  slower.software.tiles.functions.at(slot) = SimTime::nanoseconds(2345);
  std::vector<double> seconds(2);
  model->predict(slower, seconds);
  for (std::size_t row = 0; row < 2; ++row) table.rows[row][3] = seconds[row] * 1e6;
  const auto times = fit_functions(table, profiles);
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].constant, "tiles.silu");
  EXPECT_EQ(times[0].cycles, 2345);
  EXPECT_LT(times[0].worst_error, 1e-6);
}

TEST(FunctionFit, TheNewerProfileIsNearTheMeasurements) {
  const chip::Profiles profiles = newer_profiles();
  EXPECT_LE(median_error(" 32x32", profiles), 0.10);
  EXPECT_LE(median_error(" 1024x1024", profiles), 0.10);
}

TEST(FunctionFit, LeftOutRowsArePredictedByTheOthersOfTheirFunction) {
  const chip::Profiles profiles = chip::load_profiles();
  MeasurementTable table = function_measurements();
  const std::size_t all = left_out_errors(table, profiles).size();
  std::erase_if(table.rows, [&](const auto& row) {
    return !std::get<std::string>(row[0]).starts_with("silu ");
  });
  const std::vector<double> silu = left_out_errors(table, profiles);
  ASSERT_EQ(silu.size(), 2U) << "of one tile and of 1024";
  EXPECT_GT(all, 50U);
  // Each is predicted as the fit to the other one alone predicts it.
  const MeasurementTable both = table;
  table.rows.erase(table.rows.begin());
  chip::Profiles fitted = profiles;
  fitted.software.tiles.functions.at(static_cast<std::size_t>(Eltwise::silu)) =
      SimTime::nanoseconds(fit_functions(table, profiles).at(0).cycles);
  std::vector<double> seconds(2);
  make_model(both)->predict(fitted, seconds);
  EXPECT_NEAR(silu[0], seconds[0] / both.seconds(0, both.measured[0]) - 1, 1e-9);
  table.rows.clear();
  EXPECT_TRUE(left_out_errors(table, profiles).empty());
}

TEST(FunctionFit, ItsProfileIsReadAsAPart) {
  const std::string text = function_profile({{"tiles.silu", 1500, 2, 0.04}});
  const auto constants = chip::Constants::parse(text, "test", "software");
  EXPECT_EQ(constants.at("tiles.silu").value, 1500);
  EXPECT_EQ(constants.at("tiles.silu").unit, "cycles");
}

}  // namespace
}  // namespace howard::calibration
