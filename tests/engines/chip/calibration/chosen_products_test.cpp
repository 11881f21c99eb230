// SPDX-License-Identifier: Apache-2.0
//
// These tests say how true the emulator is to measured products of Blackhole whose configurations
// and shards a caller chose. The limits are a little above what they were when they were written.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "engines/chip/calibration/measurements.h"
#include "engines/chip/calibration/model.h"
#include "engines/chip/profiles/profile.h"

namespace howard::calibration {
namespace {

/// The errors of the rows of one kind, from the smallest on.
using Errors = std::vector<double>;

std::vector<double> emulated(const MeasurementTable& table) {
  const chip::Profiles profiles = chip::load_profiles({.profiles = {table.chip}, .settings = {}});
  std::vector<double> seconds(table.rows.size());
  make_model(table)->predict(profiles, seconds);
  return seconds;
}

/// Returns the errors of each group of rows, which `group` names by the table, the row and the
/// measured time in seconds.
template <class Group>
void add_errors(const MeasurementTable& table, const Group& group,
                std::map<std::string, Errors>& errors) {
  const std::vector<double> seconds = emulated(table);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const double measured = table.seconds(row, table.measured[0]);
    errors[group(row, measured)].push_back(std::abs(seconds[row] / measured - 1));
  }
  for (auto& [name, all] : errors) std::ranges::sort(all);
}

double median(const Errors& errors) { return errors.at(errors.size() / 2); }

TEST(ChosenProducts, AreWithinThreePercentInTheMedianOnEachBoardAndLongOnesWithinTen) {
  const std::vector<MeasurementTable> tables = chosen_products();
  ASSERT_EQ(tables.size(), 4U);
  for (const MeasurementTable& table : tables) {
    SCOPED_TRACE(table.chip);
    std::map<std::string, Errors> errors;
    add_errors(
        table, [](std::size_t, double measured) { return measured < 2e-3 ? "short" : "long"; },
        errors);
    EXPECT_LE(median(errors["short"]), 0.03);
    EXPECT_LE(median(errors["long"]), 0.03);
    EXPECT_LE(errors["short"].back(), 0.13);
    EXPECT_LE(errors["long"].back(), 0.10);
  }
}

TEST(ChosenProducts, OfARowOfTilesAreTrueWithWeightsInTheBanksAndWithColumnsOfThem) {
  const MeasurementTable table = shard_measurements("blackhole");
  std::map<std::string, Errors> errors;
  add_errors(
      table, [&](std::size_t row, double) { return table.text(row, "what"); }, errors);
  EXPECT_LE(median(errors["DRAM-sharded products"]), 0.04);
  EXPECT_LE(median(errors["1D products"]), 0.05);
}

TEST(ChosenProducts, WhosePartialSumsComeBackFromL1TakeThatWayInEachStepOfK) {
  const MeasurementTable table = spilled_products();
  ASSERT_EQ(table.rows.size(), 293U);
  std::map<std::string, Errors> errors;
  add_errors(
      table, [&](std::size_t row, double) { return table.text(row, "what"); }, errors);
  EXPECT_LE(median(errors["2D default"]), 0.03);
  EXPECT_LE(median(errors["2D chosen"]), 0.06);
  EXPECT_LE(median(errors["1D default"]), 0.20);
  EXPECT_LE(median(errors["1D chosen"]), 0.07);
}

}  // namespace
}  // namespace howard::calibration
