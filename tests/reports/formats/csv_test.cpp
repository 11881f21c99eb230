// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/csv.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "tests/reports/sample_result.h"

namespace howard::reports {
namespace {

std::vector<std::string> lines_of(const harness::ExperimentResult& result) {
  return split(csv({&result, 1}), '\n');
}

TEST(Csv, HasOneRowForEachPointAndMetric) {
  const std::vector<std::string> lines = lines_of(testing::sample_result());
  // There are a header, 4 + 4 + 3 metrics, 2 points without any, and what follows the last line's
  // end.
  ASSERT_EQ(lines.size(), 1U + 11U + 2U + 1U);
  EXPECT_EQ(lines[0],
            "experiment,backend,shape,dispatch,dtype,metric,value,unit,n,median,ci95_low,ci95_high,"
            "noise,reference_value,reference_status,relative_error,bound_by,sample_config,skipped");
  EXPECT_EQ(
      lines[1].substr(0, lines[1].rfind("calibration")),
      "sample_sweep,emulated,128x128x128,worker,bfloat16,time,9.5e-05,s,0,,,,exact,8.882e-05,");
  EXPECT_EQ(lines[2],
            "sample_sweep,emulated,128x128x128,worker,bfloat16,throughput,44200000000,FLOP/s,0,,,,"
            "exact,,,,host and dispatch,\"2D multicast on 4x4 cores, block 1x1, k block 1\",");
  EXPECT_EQ(lines[11],
            "sample_sweep,host,128x128x128,,bfloat16,time,0.000104,s,7,0.000104,0.000101,0.00011,"
            "sampled,,,,,,");
}

TEST(Csv, QuotesFieldsAsRfc4180Says) {
  const std::vector<std::string> lines = lines_of(testing::sample_result());
  EXPECT_EQ(lines[9],
            "sample_sweep,emulated,100000x100000x100000,worker,bfloat16,,,,,,,,,,,,,,"
            "\"cannot allocate 20 GB: 12 GB of DRAM, \"\"all\"\" of it free\"");
  EXPECT_EQ(lines[10], "sample_sweep,emulated,64x64x64,eth,bfloat16,,,,,,,,,,,,,,no such grid");
}

TEST(Csv, HasTheAxesOfAllExperiments) {
  std::vector<harness::ExperimentResult> results{testing::sample_result(), {.experiment = "other"}};
  results[1].points.push_back({.parameters = {{"layers", "6"}, {"shape", "1x1x1"}}});
  const std::vector<std::string> lines = split(csv(results), '\n');
  EXPECT_TRUE(lines.front().starts_with("experiment,backend,shape,dispatch,dtype,layers,metric,"));
  EXPECT_EQ(lines[lines.size() - 2], "other,emulated,1x1x1,,,6,,,,,,,,,,,,,,");
}

TEST(Csv, AChipThatAPointChoseStandsAmongItsFacts) {
  harness::ExperimentResult result{.experiment = "other"};
  result.points.push_back({.parameters = {{"machine", "n150"}}});
  result.points.push_back(
      {.parameters = {{"machine", "p150"}},
       .own_chip = harness::EmulatedOn{.chip = {"blackhole_p150", {}}, .software = {"s", {}}}});
  const std::vector<std::string> lines = lines_of(result);
  EXPECT_TRUE(lines[0].ends_with(",relative_error,chip,skipped")) << lines[0];
  EXPECT_TRUE(lines[1].ends_with(",,,")) << lines[1];
  EXPECT_TRUE(lines[2].ends_with(",blackhole_p150,")) << lines[2];
}

TEST(Csv, ADetailThatIsAnAxisElsewhereHasNoSecondColumn) {
  harness::ExperimentResult result{.experiment = "other"};
  result.points.push_back(
      {.parameters = {{"verdict", "axis"}}, .details = {{"verdict", "detail"}}});
  EXPECT_EQ(csv({&result, 1}).find("detail"), std::string::npos);
}

}  // namespace
}  // namespace howard::reports
