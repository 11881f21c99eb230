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

TEST(JoinedLogs, HaveTheCallsOfAllFilesOnce) {
  const auto with_calls = [](const std::string& other) {
    Log log = log_of("a");
    OpRow row;
    row.name = "Matmul";
    TensorCells tensor;
    tensor.memory = other.empty() ? "DEV_0_DRAM_INTERLEAVED" : "DEV_5_DRAM_INTERLEAVED";
    row.inputs = {tensor};
    OpRow second = row;
    second.name = other;
    if (!other.empty()) log.runs[0].timeline.programs[1].call = log.calls.id(second);
    log.runs[0].timeline.programs[0].call = log.calls.id(row);
    return log;
  };
  const Log first = with_calls("");
  const Log second = with_calls("Softmax");
  const std::vector<const Log*> logs{&first, &second};
  const std::vector<std::string> names{"host0.csv", "host1.csv"};
  const Log joined = join_logs(logs, names);
  EXPECT_EQ(joined.calls.size(), 2U) << "a call of another device is the same";
  const auto name_of_call = [&](std::size_t program) {
    return joined.calls.row(joined.runs[0].timeline.programs[program].call).name;
  };
  EXPECT_EQ(name_of_call(0), "Matmul");
  EXPECT_EQ(name_of_call(2), "Matmul");
  EXPECT_EQ(name_of_call(3), "Softmax");
  EXPECT_EQ(joined.runs[0].timeline.programs[1].call, 0U);
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
