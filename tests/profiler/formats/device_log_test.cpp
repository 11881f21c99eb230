// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "profiler/formats/device_log/device_log_reader.h"
#include "profiler/formats/tt_metal_logs.h"
#include "tests/error_of.h"
#include "tests/profiler/formats/log_checks.h"
#include "tests/profiler/formats/samples.h"
#include "tests/profiler/formats/wormhole_device.h"

namespace howard::profiler {
namespace {

Log read(std::string_view text) {
  TextBytes source(text);
  return read_device_log(source, "log.csv");
}

std::string failure(std::string_view text) {
  return error_of([&] { read(text); });
}

/// Returns a zone of BRISC on core (1,1), in a file of 15 columns.
std::string zone(std::int64_t start, std::int64_t end, int id, std::string_view trace = ",") {
  std::string text;
  for (const auto& [cycle, type] : {std::pair(start, "ZONE_START"), std::pair(end, "ZONE_END")}) {
    text += "0,1,1,BRISC,7," + std::to_string(cycle) + ",0," + std::to_string(id) + "," +
            std::string(trace) + ",BRISC-KERNEL," + type + ",1,a.cc,\n";
  }
  return text;
}
const std::string kLog15 = std::string(kDeviceLogFirst) + std::string(kDeviceLogHeader15);

TEST(DeviceLog, AProgramRunsFromItsFirstKernelStartToItsLastKernelEnd) {
  const Log log = read(kDeviceLog);
  ASSERT_EQ(log.runs.size(), 1U);
  const Timeline& timeline = log.runs[0].timeline;
  ASSERT_EQ(timeline.programs.size(), 2U);
  EXPECT_EQ(timeline.programs[0].kernel.start, SimTime::nanoseconds(100));
  EXPECT_EQ(timeline.programs[0].kernel.end, SimTime::nanoseconds(180));
  EXPECT_EQ(timeline.names.name(timeline.programs[0].name), "program 1024");
  EXPECT_EQ(timeline.programs[1].kernel.duration(), SimTime::nanoseconds(150));
  EXPECT_EQ(log.runs[0].devices[0].clock, Frequency(1'000'000'000));
  EXPECT_EQ(log.dropped.count(), 0U);
}

TEST(DeviceLog, FilesOfThirteenColumnsAndOtherClocksAreRead) {
  const Log log = read("ARCH: blackhole, CHIP_FREQ[MHz]: 1350\n" + std::string(kDeviceLogHeader13) +
                       "1,1,1,NCRISC,7,1350,0,5,NCRISC-KERNEL,ZONE_START,1,a.cc,\n"
                       "1,1,1,NCRISC,7,2700,0,5,NCRISC-KERNEL,ZONE_END,1,a.cc,\n");
  ASSERT_EQ(log.runs.size(), 1U);
  const ProgramRun& program = log.runs[0].timeline.programs.at(0);
  EXPECT_EQ(program.kernel.start, SimTime::microseconds(1));
  EXPECT_EQ(program.kernel.end, SimTime::microseconds(2));
  EXPECT_EQ(program.device, 1);
  EXPECT_EQ(log.runs[0].devices[0].architecture, "blackhole");
}

TEST(DeviceLog, ProgramsAreOfTheSubDeviceThatAColumnNames) {
  EXPECT_EQ(read(kDeviceLog).runs[0].timeline.programs[0].sub_device, 0);
  std::string text = kDeviceLog;
  text.replace(text.find("timer_id"), std::string_view("timer_id").size(), "sub_device_id");
  EXPECT_EQ(read(text).runs[0].timeline.programs[0].sub_device, 7);
}

TEST(DeviceLog, AProgramThatStartsAgainIsAnotherRunOfIt) {
  const Log log = read(kLog15 + zone(100, 200, 9) + zone(300, 400, 9));
  ASSERT_EQ(log.runs.size(), 1U);
  EXPECT_EQ(log.runs[0].timeline.programs.size(), 2U);
}

TEST(DeviceLog, ReplaysOfATraceAreCounted) {
  const Log log = read(kLog15 + zone(100, 200, 9, "1,1") + zone(300, 400, 9, "1,2"));
  ASSERT_EQ(log.runs.size(), 1U);
  EXPECT_EQ(log.runs[0].timeline.programs[0].replay, 1U);
  EXPECT_EQ(log.runs[0].timeline.programs[1].replay, 2U);
}

TEST(DeviceLog, ACounterThatFallsForAProgramThatRanBeginsAnotherRun) {
  const Log log = read(kLog15 + zone(1000, 2000, 9) + zone(100, 400, 9));
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[1].timeline.programs[0].kernel.duration(), SimTime::nanoseconds(300));
}

TEST(DeviceLog, AnAppendedFileIsAnotherRun) {
  const Log log = read(kDeviceLog + kDeviceLog);
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[1].timeline.programs.size(), 2U);
}

TEST(DeviceLog, StartsWithoutEndAndEndsWithoutStartAreCounted) {
  const std::string whole = zone(100, 200, 1);
  const std::string start = whole.substr(0, whole.find('\n') + 1);
  const std::string end = whole.substr(start.size());
  const Log log = read(kLog15 + end + start + zone(300, 400, 2) + start);
  ASSERT_EQ(log.runs.size(), 1U);
  EXPECT_EQ(log.runs[0].timeline.programs.size(), 1U);
  EXPECT_EQ(reasons(log),
            (std::vector<std::string>{"1 row: a zone ends that did not start, first on line 3",
                                      "2 rows: a zone starts and does not end, first on line 4"}));
}

TEST(DeviceLog, AZoneOverTheCountersWrapIsWhole) {
  constexpr std::int64_t kWrap = std::int64_t{1} << 44;
  const Log log = read(kLog15 + zone(kWrap - 300, kWrap - 200, 1) + zone(kWrap - 100, 50, 2) +
                       zone(100, 150, 3));
  ASSERT_EQ(log.runs.size(), 1U);
  const auto& programs = log.runs[0].timeline.programs;
  ASSERT_EQ(programs.size(), 3U);
  EXPECT_EQ(programs[1].kernel.duration(), SimTime::nanoseconds(150));
  EXPECT_EQ(programs[2].kernel.start - programs[1].kernel.end, SimTime::nanoseconds(50));
}

TEST(DeviceLog, ZonesThatEndBeforeTheyStartAreDropped) {
  const Log log = read(kLog15 + zone(500, 400, 1) + zone(600, 700, 2));
  EXPECT_EQ(log.runs.at(0).timeline.programs.size(), 1U);
  EXPECT_EQ(reasons(log), std::vector<std::string>{
                              "1 row: a zone ends before it starts, first on line 4: '400'"});
}

TEST(DeviceLog, BadCellsAreNamedByLineAndColumn) {
  std::string text = kDeviceLog;
  text.replace(text.find("7,300,"), 6, "7,x,");
  EXPECT_EQ(reasons(read(text))[0],
            "1 row: time (column 6) is not a number that it can be, first on line 10: 'x'");
}

TEST(DeviceLog, ATruncatedFileKeepsItsGoodRows) {
  const Log log = read(kDeviceLog.substr(0, kDeviceLog.size() - 30));
  EXPECT_EQ(log.runs.at(0).timeline.programs.size(), 1U);
  EXPECT_EQ(log.notes, std::vector<std::string>{"the file ends within a row"});
  EXPECT_EQ(log.dropped.count(), 2U);  // the row, and the start to which the end belonged
}

TEST(DeviceLog, AFileThatIsNoneSaysWhatIsMissing) {
  EXPECT_NE(failure("").find("the file is empty"), std::string::npos);
  EXPECT_NE(failure("a,b\n").find("line 1 does not begin with ARCH:"), std::string::npos);
  EXPECT_NE(failure("ARCH: a, CHIP_FREQ[MHz]: x\n").find("CHIP_FREQ[MHz] between"),
            std::string::npos);
  EXPECT_NE(failure("ARCH: a, CHIP_FREQ[MHz]: 1000\n").find("ends before the names"),
            std::string::npos);
  EXPECT_NE(failure("ARCH: a, CHIP_FREQ[MHz]: 1000\na,b\n").find("no column PCIe slot"),
            std::string::npos);
}

TEST(DeviceLog, WhatIsWrittenReadsBackToTheCycle) {
  const auto no_facts = [](std::uint64_t) { return static_cast<const ProgramFacts*>(nullptr); };
  const std::vector<OpRecord> records = op_records(sample_events(), no_facts);
  const Log log = read(device_log_csv(records, kWormholeDevice));
  ASSERT_EQ(log.runs.size(), 1U);
  EXPECT_EQ(log.dropped.count(), 0U);
  const auto& programs = log.runs[0].timeline.programs;
  ASSERT_EQ(programs.size(), records.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const Span& written = records[i].run.kernel;
    EXPECT_EQ(programs[i].kernel.start.ps(), (written.start.ps() + 500) / 1000 * 1000);
    EXPECT_EQ(programs[i].kernel.end.ps(), (written.end.ps() + 500) / 1000 * 1000);
  }
}

TEST(DeviceLog, ReplaysAreWrittenWithTheirTraceAndReadBack) {
  std::vector<OpRecord> records(3);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const SimTime start = SimTime::microseconds(static_cast<std::int64_t>(i) * 10);
    records[i].run = {.number = i + 1,
                      .trace = i == 0 ? 0U : 7U,
                      .replay = static_cast<std::uint32_t>(i),
                      .kernel = {start, start + SimTime::microseconds(5)}};
  }
  const std::string text = device_log_csv(records, kWormholeDevice);
  EXPECT_NE(text.find(",0,1024,,,BRISC-FW"), std::string::npos);
  EXPECT_NE(text.find(",0,3072,7,2,BRISC-FW"), std::string::npos);
  const Log log = read(text);
  ASSERT_EQ(log.runs.size(), 1U);
  const auto& programs = log.runs[0].timeline.programs;
  ASSERT_EQ(programs.size(), 3U);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(programs[i].trace, records[i].run.trace);
    EXPECT_EQ(programs[i].replay, records[i].run.replay);
  }
}

TEST(DeviceLog, TheWriterHasAllRiscsOfAllCoresAtNocCoordinates) {
  const auto no_facts = [](std::uint64_t) { return static_cast<const ProgramFacts*>(nullptr); };
  const std::string text = device_log_csv(op_records(sample_events(), no_facts), kWormholeDevice);
  EXPECT_TRUE(text.starts_with("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 2 + 3 * 2 * 5 * 4);  // programs, cores, RISCs, rows
  EXPECT_NE(text.find("\n0,1,2,NCRISC,"), std::string::npos);    // logical (0,1)
  EXPECT_NE(text.find("\n0,2,2,TRISC_2,"), std::string::npos);
}

TEST(DeviceLog, EachCoreOfAChipHasItsOwnNocCoordinates) {
  const std::vector<std::tuple<DeviceFacts, int, int>> chips{
      {kWormholeDevice, 8, 10}, {{"blackhole", Frequency(1'350'000'000), 140}, 14, 10}};
  for (const auto& [device, columns, rows] : chips) {
    OpRecord record;
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) record.cores.push_back({.x = x, .y = y});
    }
    const std::string text = device_log_csv(std::span(&record, 1), device);
    std::set<std::string> cores;
    for (std::size_t at = text.find("\n0,"); at != std::string::npos;
         at = text.find("\n0,", at + 1)) {
      const std::size_t row = text.find(',', at + 3) + 1;
      cores.insert(text.substr(at, text.find(',', row) - at));
    }
    EXPECT_EQ(std::ssize(cores), columns * rows) << device.architecture;
  }
}

}  // namespace
}  // namespace howard::profiler
