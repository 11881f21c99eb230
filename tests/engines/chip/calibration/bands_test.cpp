// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/calibration/bands.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "engines/chip/calibration/error_summary.h"
#include "engines/chip/calibration/fit.h"
#include "engines/chip/calibration/function_fit.h"
#include "engines/chip/emulated_chip.h"
#include "engines/ops/catalogue.h"

namespace howard::calibration {
namespace {

class Bands : public ::testing::Test {
 protected:
  const Band& band(std::string_view text) {
    return band_of(device_.explain(ops::parse_program(text, DataType::bfloat16)));
  }

  chip::EmulatedChip device_{chip::load_profiles()};
};

TEST_F(Bands, AKindIsKnownAsWellAsItsRowsAreMany) {
  EXPECT_EQ(band("matmul 1024x1024 1024x1024").known, Known::calibrated);
  EXPECT_EQ(band("matmul:transpose_b 1024x1024 1024x1024").known, Known::interpolated);
  EXPECT_EQ(band("matmul 8x64x64 8x64x64").known, Known::interpolated);
  EXPECT_EQ(band("add 64x64 64x64").known, Known::calibrated);
  EXPECT_EQ(band("softmax 64x64").known, Known::one_kernel);
  EXPECT_EQ(band("layernorm 64x64").known, Known::one_kernel);
  EXPECT_EQ(band("ttml_layernorm 64x64").known, Known::by_analogy) << "shown as a layernorm";
  EXPECT_EQ(band("rms_norm 64x64 1x64").known, Known::interpolated) << "rows on shards";
  EXPECT_EQ(band("topk:k=32 32x4096").known, Known::one_kernel) << "of two chips";
  EXPECT_EQ(band("sort 32x1024").known, Known::interpolated) << "four longer rows";
  EXPECT_EQ(band("plus_one 1x32 uint32 row_major").known, Known::by_analogy);
  EXPECT_EQ(band("silu 64x64").known, Known::calibrated) << "rows of two sizes";
  EXPECT_EQ(band("tanh 64x64").known, Known::interpolated) << "a row";
  EXPECT_EQ(band("exp 64x64").known, Known::calibrated) << "rows of the profile's own kernel";
  EXPECT_EQ(band("erf 64x64").known, Known::interpolated) << "one, the others are of a newer one";
  EXPECT_EQ(band("silu_backward 64x64 64x64").known, Known::by_analogy);
  EXPECT_EQ(band("minimal_matmul 64x64 64x64").known, Known::interpolated);
  EXPECT_EQ(band("attention 1x2x64x64 1x2x64x64 1x2x64x64").known, Known::by_analogy);
  EXPECT_EQ(band("sum_columns 64x64").known, Known::interpolated) << "rows on shards";
  EXPECT_EQ(band("sdpa_fw 1x2x64x64 1x2x64x64 1x2x64x64").known, Known::by_analogy);
  chip::PlannedProgram unheard_of;
  unheard_of.op = "all_gather";
  EXPECT_EQ(band_of(unheard_of).known, Known::interpolated);
  unheard_of.predicted = true;
  EXPECT_EQ(band_of(unheard_of).known, Known::by_analogy);
  unheard_of = {};
  unheard_of.op = "an op that nobody has timed";
  EXPECT_EQ(band_of(unheard_of).known, Known::by_analogy);
  EXPECT_GT(band_of(unheard_of).share, band("softmax 64x64").share);
  EXPECT_GT(band("softmax 64x64").share, band("add 64x64 64x64").share);
}

TEST_F(Bands, EachBandSaysWhatItRestsOn) {
  EXPECT_FALSE(built_in_bands().empty());
  for (const Band& band : built_in_bands()) {
    EXPECT_FALSE(band.source.empty()) << band.name;
    EXPECT_GT(band.share, 0) << band.name;
    EXPECT_LT(band.share, 1) << band.name;
  }
}

TEST_F(Bands, AFunctionOfOneRowClaimsNoMoreThanRowsThatWereLeftOut) {
  const double mean =
      summarise(left_out_errors(function_measurements(), chip::load_profiles())).mean;
  EXPECT_GE(band("tanh 64x64").share, mean);
  EXPECT_LE(band("tanh 64x64").share, mean + 0.05) << "nor much less";
}

/// A band that most rows of its own kind leave is not one. Of the rows of single kernels two in
/// three are within it, and nearly all within three times as much.
TEST_F(Bands, MeasuredRowsLieWithinTheBandsOfTheirKind) {
  const Fit fit(chip::load_constants(), built_in_measurements());
  int rows = 0, within = 0, far = 0;
  for (const Residual& residual : fit.residuals(fit.start_values())) {
    const MeasurementTable& table = fit.tables()[residual.table];
    if (table.kind != "op_kernel") continue;
    chip::EmulatedChip device(chip::load_profiles());
    const Program program = ops::parse_program(table.text(residual.row, "program"),
                                               parse_data_type(table.text(residual.row, "dtype")));
    const double share = band_of(device.explain(program)).share;
    ++rows;
    within += std::abs(residual.error) <= share ? 1 : 0;
    far += std::abs(residual.error) > 3 * share ? 1 : 0;
  }
  EXPECT_GT(3 * within, 2 * rows);
  EXPECT_LE(20 * far, rows);
}

}  // namespace
}  // namespace howard::calibration
