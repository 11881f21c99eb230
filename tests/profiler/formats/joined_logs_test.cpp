// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/joined_logs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace howard::profiler {
namespace {

/// A run with a program on each of two devices.
Log log_of(const std::string& op) {
  Log log;
  LoggedRun& run = log.runs.emplace_back();
  for (const std::uint16_t device : {std::uint16_t{0}, std::uint16_t{5}}) {
    ProgramRun& program = run.timeline.programs.emplace_back();
    program.name = run.timeline.names.id(op + std::to_string(device));
    program.device = device;
    run.devices.push_back({.id = device});
  }
  return log;
}

TEST(JoinedLogs, NumberTheirDevicesOnAndKeepTheirNames) {
  const Log first = log_of("a");
  const Log second = log_of("b");
  const std::vector<const Log*> logs{&first, &second};
  const std::vector<std::string> names{"host0.csv", "host1.csv"};
  const Log joined = join_logs(logs, names);
  ASSERT_EQ(joined.runs.size(), 1U);
  std::string text;
  for (const ProgramRun& program : joined.runs[0].timeline.programs) {
    text += std::string(joined.runs[0].timeline.names.name(program.name)) + "@" +
            std::to_string(program.device) + " ";
  }
  EXPECT_EQ(text, "a0@0 a5@1 b0@2 b5@3 ");
  EXPECT_EQ(joined.runs[0].devices.size(), 4U);
  EXPECT_NE(join(joined.notes, "\n").find("devices 2 to 3 are of host1.csv"), std::string::npos);
}

TEST(JoinedLogs, RefuseLogsOfOtherNumbersOfRuns) {
  const Log first = log_of("a");
  Log second = log_of("b");
  second.runs.push_back(std::move(log_of("c").runs.front()));
  const std::vector<const Log*> logs{&first, &second};
  const std::vector<std::string> names{"x", "y"};
  EXPECT_THROW(join_logs(logs, names), Error);
}

}  // namespace
}  // namespace howard::profiler
