// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "harness/result.h"

namespace howard::experiments {

/// The virtual times of an experiment's points to the picosecond, as they stand in the repository:
/// the same in every build type and on every machine. A change of them is a decision, to be
/// explained in its commit. To record them anew, write what the failure prints into the file.
inline void expect_recorded_times(const std::string& experiment,
                                  const std::vector<harness::PointResult>& points) {
  std::string actual;
  for (const harness::PointResult& point : points) {
    if (point.skipped) continue;
    actual += fmt::format("{} {}\n", point.id(), point.find_metric("time")->virtual_time->ps());
  }
  EXPECT_EQ(read_file(HOWARD_SIGNATURE_FOLDER "/" + experiment + ".txt"), actual);
}

}  // namespace howard::experiments
