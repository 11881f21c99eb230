// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/certainty.h"

#include <gtest/gtest.h>

#include "tests/engines/chip/calibration/synthetic.h"

namespace howard::calibration {
namespace {

using testing::every_row;
using testing::place_of;
using testing::tables_of;

constexpr int kEvaluations = 400;

Certainty certainty(const Fit& fit, std::string_view constant) {
  const auto values = fit.minimise(fit.start_values(), every_row, 1500);
  return certainty_of(fit, place_of(fit, constant), values, kEvaluations);
}

TEST(Certainty, AConstantThatManyRowsSeeIsKnownWell) {
  const Fit fit(chip::load_constants(), tables_of({"exp_kernel"}));
  const Certainty exp = certainty(fit, "tiles.exp");
  EXPECT_EQ(exp.identified, Identified::well);
  ASSERT_TRUE(exp.uncertainty.has_value());
  EXPECT_LT(*exp.uncertainty, 0.2);
  EXPECT_EQ(exp.tables, (std::vector<std::size_t>{0}));
}

TEST(Certainty, TwoConstantsThatOnlyTheirSumIsMeasuredOfAreNotKnown) {
  const Fit fit(chip::load_constants(), tables_of({"matmul_sweep"}));
  EXPECT_EQ(certainty(fit, "host.op_call").identified, Identified::flat)
      << "host.finish makes up for it";
}

TEST(Certainty, AConstantNoRowDependsOnIsUnseen) {
  const Fit fit(chip::load_constants(), tables_of({"mlp_host"}));
  const Certainty exp = certainty(fit, "tiles.exp");
  EXPECT_EQ(exp.identified, Identified::unseen);
  EXPECT_FALSE(exp.uncertainty.has_value());
  EXPECT_TRUE(exp.tables.empty());
}

TEST(Certainty, AConstantThatLeansOnItsBoundSaysSo) {
  auto tables = tables_of({"mlp_host"});
  for (auto& row : tables[0].rows) row.back() = std::get<double>(row.back()) * 100;
  const Fit slow(chip::load_constants(), tables);
  EXPECT_EQ(certainty(slow, "host.op_call").identified, Identified::at_most);
  for (auto& row : tables[0].rows) row.back() = std::get<double>(row.back()) / 10000;
  const Fit fast(chip::load_constants(), tables);
  EXPECT_EQ(certainty(fast, "host.op_call").identified, Identified::at_least);
}

}  // namespace
}  // namespace howard::calibration
