// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/fit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engines/chip/calibration/synthetic.h"

namespace howard::calibration {
namespace {

using testing::every_row;
using testing::measured_with;
using testing::place_of;
using testing::tables_of;

constexpr int kEvaluations = 3000;

TEST(Fit, RecoversTheConstantsThatRowsWereMadeWith) {
  const auto tables = measured_with(
      {{"tiles.exp", 2200}, {"tiles.gelu", 2500}, {"tiles.start", 500}, {"host.op_call", 41}},
      tables_of({"exp_kernel", "op_changes", "mlp_host"}));
  const Fit fit(chip::load_constants(), tables);
  const auto values = fit.minimise(fit.start_values(), every_row, kEvaluations);
  EXPECT_LT(fit.objective(values, every_row), 1e-3);
  EXPECT_NEAR(values[place_of(fit, "tiles.exp")], 2200, 22);
  EXPECT_NEAR(values[place_of(fit, "tiles.gelu")], 2500, 50);
  EXPECT_NEAR(values[place_of(fit, "tiles.start")], 500, 25);
  EXPECT_NEAR(values[place_of(fit, "host.op_call")], 41, 0.4);
}

TEST(Fit, RecoversDispatchConstantsThroughTheSimulation) {
  auto tables = tables_of({"program_dispatch"});
  auto& rows = tables[0].rows;  // only a third of them, because the simulation takes time
  for (std::size_t i = 0; 3 * i < rows.size(); ++i) rows[i] = rows[3 * i];
  rows.resize(rows.size() / 3);
  tables = measured_with({{"dispatch.program", 3000}, {"dispatch.group_least", 1400}}, tables);
  const Fit fit(chip::load_constants(), tables);
  const auto values = fit.minimise(fit.start_values(), every_row, kEvaluations);
  EXPECT_NEAR(values[place_of(fit, "dispatch.program")], 3000, 60);
  EXPECT_NEAR(values[place_of(fit, "dispatch.group_least")], 1400, 70);
}

TEST(Fit, OnlyCalibratedConstantsMove) {
  const auto constants = chip::load_constants();
  const Fit fit(constants, tables_of({"mlp_host"}));
  EXPECT_FALSE(fit.constants().empty());
  for (const FreeConstant& constant : fit.constants()) {
    const auto& owner = constant.of_chip ? constants.chip : constants.software;
    EXPECT_TRUE(owner.at(constant.name).is_calibrated()) << constant.name;
  }
  const auto moved = fit.with(fit.middle_values());
  for (const auto& [before, after] :
       {std::pair(&constants.chip, &moved.chip), std::pair(&constants.software, &moved.software)}) {
    for (const std::string& name : before->names()) {
      if (before->at(name).is_calibrated()) continue;
      EXPECT_EQ(before->at(name).value, after->at(name).value) << name;
    }
  }
}

TEST(Fit, AConstantTheUserHasSetStaysThere) {
  const auto constants = chip::load_constants({.settings = {"host.op_call=20us"}});
  const Fit fit(constants, tables_of({"mlp_host", "exp_kernel"}));
  EXPECT_EQ(std::ranges::find(fit.constants(), "host.op_call", &FreeConstant::name),
            fit.constants().end());
  const auto values = fit.minimise(fit.start_values(), every_row, 100);
  EXPECT_EQ(fit.with(values).software.at("host.op_call").value, 20);
}

TEST(Fit, IsNeverWorseThanItsStartAndStaysWithinTheBounds) {
  const Fit fit(chip::load_constants(), built_in_measurements());
  const auto start = fit.start_values();
  const double before = fit.objective(start, every_row);
  for (const int evaluations : {1, 5, 120}) {
    const auto values = fit.minimise(start, every_row, evaluations);
    EXPECT_LE(fit.objective(values, every_row), before) << evaluations;
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_GE(values[i], fit.constants()[i].least);
      EXPECT_LE(values[i], fit.constants()[i].most);
    }
  }
}

TEST(Fit, TheSameFitTwiceGivesTheSameBits) {
  const Fit fit(chip::load_constants(), tables_of({"exp_kernel", "matmul_sweep"}));
  EXPECT_EQ(fit.minimise(fit.middle_values(), every_row, 300),
            fit.minimise(fit.middle_values(), every_row, 300));
}

TEST(Fit, RowsThatAreNotSeenDoNotMatter) {
  const auto tables = tables_of({"exp_kernel", "mlp_host"});
  const Fit fit(chip::load_constants(), tables);
  const auto only_host = [](std::size_t table, std::size_t /*row*/) { return table == 1; };
  ASSERT_EQ(fit.tables()[1].name, "mlp_host");
  const auto matter = fit.that_matter(fit.start_values(), only_host);
  ASSERT_EQ(matter.size(), 1U);
  EXPECT_EQ(fit.constants()[matter[0]].name, "host.op_call");
  const auto from = fit.middle_values();
  const auto values = fit.minimise(from, only_host, 200);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == matter[0]) continue;
    EXPECT_EQ(values[i], from[i]) << "nothing is known of it: it stays";
  }
  EXPECT_NE(values[matter[0]], from[matter[0]]);
}

TEST(Fit, AHeldConstantStays) {
  const Fit fit(chip::load_constants(), tables_of({"mlp_host", "matmul_sweep"}));
  auto from = fit.start_values();
  const std::size_t held = place_of(fit, "host.op_call");
  from[held] = 40;
  const auto values = fit.minimise(from, every_row, 300, held);
  EXPECT_EQ(values[held], 40);
  EXPECT_LT(values[place_of(fit, "host.finish")], 33.5) << "it makes up for the dearer call";
}

TEST(Fit, RoundedValuesHaveFourDigitsAndStayWithinTheBounds) {
  const Fit fit(chip::load_constants(), tables_of({"mlp_host"}));
  auto values = fit.start_values();
  values[place_of(fit, "dispatch.program")] = 2471.7182;
  values[place_of(fit, "host.op_call")] = 28.33208;
  values[place_of(fit, "ttnn.binary_bytes")] = 13999.96;
  values = fit.rounded(values);
  EXPECT_EQ(values[place_of(fit, "dispatch.program")], 2472);
  EXPECT_EQ(values[place_of(fit, "host.op_call")], 28.33);
  EXPECT_EQ(values[place_of(fit, "ttnn.binary_bytes")], 14000);
}

TEST(Fit, TablesThatDependOnAConstantAreFound) {
  const Fit fit(chip::load_constants(), built_in_measurements());
  const auto tables = fit.tables_that_depend_on(place_of(fit, "tiles.exp"), fit.start_values());
  ASSERT_EQ(tables.size(), 2U) << "softmax takes an exp";
  EXPECT_EQ(fit.tables()[tables[0]].name, "exp_kernel");
  EXPECT_EQ(fit.tables()[tables[1]].name, "op_kernels");
}

TEST(Fit, OneHopelessRowCountsLinearlyNotQuadratically) {
  auto tables = tables_of({"mlp_host"});
  const auto loss = [&](double factor) {
    auto changed = measured_with({}, tables);
    auto& cell = changed[0].rows[0].back();
    cell = std::get<double>(cell) * factor;
    const Fit fit(chip::load_constants(), changed);
    return fit.objective(fit.start_values(), every_row);
  };
  EXPECT_NEAR(loss(10000) / loss(100), 2, 0.1);
  EXPECT_NEAR(loss(1.002) / loss(1.001), 4, 0.1);
}

}  // namespace
}  // namespace howard::calibration
