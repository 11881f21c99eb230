// SPDX-License-Identifier: Apache-2.0
#include "reports/sweeps/sweep_pictures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "reports/pictures/plot.h"
#include "tests/reports/swept_result.h"

namespace howard::reports {
namespace {

namespace fs = std::filesystem;

class SweepPictures : public ::testing::Test {
 protected:
  ~SweepPictures() override { fs::remove_all(folder_); }

  void draw(const harness::ExperimentResult& result) const {
    write_plots(result, testing::swept_presentation(), {folder_});
  }
  std::string text(const std::string& file) const { return read_file(folder_ / file); }
  bool shows(const std::string& file, const std::string& part) const {
    return text(file).find(part) != std::string::npos;
  }

 private:
  fs::path folder_ = fs::path(::testing::TempDir()) /
                     (std::string("howard_sweep_") +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

/// Returns a sweep with one value of the delay.
harness::ExperimentResult one_constant() {
  harness::ExperimentResult result = testing::swept_result();
  std::erase_if(result.points, [](const harness::PointResult& point) {
    return harness::find_parameter(point.parameters, "delay") != "20us";
  });
  return result;
}

TEST_F(SweepPictures, TheValuesOfOneConstantAreTheHorizontalAxisAndOtherAxesAreLines) {
  draw(one_constant());
  EXPECT_TRUE(shows("sweep.gp", "set label 'dram (GB/s)' at")) << text("sweep.gp");
  EXPECT_TRUE(shows("sweep.gp", "set label 'size 64' at")) << text("sweep.gp");
  EXPECT_TRUE(shows("sweep.gp", "set label 'size 128' at"));
  // The rates of size 64 are 1, 2, 4 and then, as launches bound it, 5 per 640 us.
  EXPECT_TRUE(shows("sweep.dat", "\n1 1.5625 ?\n2 3.125 ?\n4 5 5\n8 5 ?\n")) << text("sweep.dat");
  EXPECT_TRUE(shows("sweep.gp", "set label 'the bound changes' at"));
}

TEST_F(SweepPictures, TwoConstantsAreTheAxesOfAHeatMapWithAPanelForEachOtherValue) {
  draw(testing::swept_result());
  EXPECT_TRUE(shows("sweep.gp", "set label 'dram (GB/s)' at")) << text("sweep.gp");
  EXPECT_TRUE(shows("sweep.gp", "set label 'delay (us)' at"));
  EXPECT_TRUE(shows("sweep.gp", "data index 1 using 1:2:3 with image"));
  EXPECT_FALSE(shows("sweep.gp", "data index 2 using 1:2:3 with image"));
  // This is the first row of the first panel: at a delay of 10 us, the best rate is at 8 GB/s, and
  // it is 6.4 times less at 1 GB/s.
  std::istringstream lines(text("sweep.dat"));
  std::string line;
  for (int i = 0; i < 3; ++i) std::getline(lines, line);
  EXPECT_EQ(line, "0 0 6.4");
  for (int i = 0; i < 3; ++i) std::getline(lines, line);
  EXPECT_EQ(line, "3 0 1");
}

TEST_F(SweepPictures, APointThatFailedIsAHoleOfTheMap) {
  harness::ExperimentResult result = testing::swept_result();
  result.points[2].metrics.clear();
  draw(result);
  EXPECT_TRUE(shows("sweep.dat", "\n0 1 NaN\n")) << text("sweep.dat");
}

TEST_F(SweepPictures, MoreCombinationsThanThereIsRoomForAreSaidInTheTitle) {
  harness::ExperimentResult result;
  result.experiment = "sweep";
  for (int size = 0; size < 40; ++size) {
    for (const double dram : {1.0, 2.0}) {
      result.points.push_back(testing::swept_point(std::to_string(size), dram, 1, 1e-3 / dram));
    }
  }
  draw(result);
  EXPECT_TRUE(shows("sweep.gp", "(14 of 40 lines)")) << text("sweep.gp");
}

TEST_F(SweepPictures, HostPointsHaveThePlainPictureBehindTheSwept) {
  harness::ExperimentResult result = one_constant();
  for (const double side : {64.0, 128.0}) {
    result.points.push_back(testing::swept_point("64", 1, 1, 1e-3 / side));
    result.points.back().backend = harness::Backend::host;
    result.points.back().metrics.push_back({.name = "side", .value = side, .unit = "1"});
  }
  draw(result);
  EXPECT_TRUE(shows("sweep_2.gp", "set label 'host' at")) << text("sweep_2.gp");
  EXPECT_FALSE(shows("sweep_2.gp", "emulated"));
}

}  // namespace
}  // namespace howard::reports
