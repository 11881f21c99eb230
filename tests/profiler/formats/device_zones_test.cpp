// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/device_log/device_zones.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "profiler/formats/device_log/device_log_reader.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "tests/profiler/formats/samples.h"

namespace howard::profiler {
namespace {

const std::string kFirstLines = std::string(kDeviceLogFirst) + std::string(kDeviceLogHeader15);

std::string row(int core, std::string_view risc, std::int64_t cycle, int id, std::string_view zone,
                std::string_view type, std::int64_t data = 0) {
  return fmt::format("0,{},1,{},7,{},{},{},,,{},{},1,a.cc,\n", core, risc, cycle, data, id, zone,
                     type);
}

/// Returns the kernel of one RISC of one core, with what is within it.
std::string kernel(int core, std::string_view risc, std::int64_t start, std::int64_t end, int id,
                   const std::string& within = "") {
  const std::string name = std::string(risc.substr(0, risc.find('_'))) + "-KERNEL";
  return row(core, risc, start - 5, id, "BRISC-FW", "ZONE_START") +
         row(core, risc, start, id, name, "ZONE_START") + within +
         row(core, risc, end, id, name, "ZONE_END") +
         row(core, risc, end + 5, id, "BRISC-FW", "ZONE_END");
}

/// Two programs: 1024 on two cores, twice, and 2048 on one.
std::string device_log() {
  const auto within = [](std::int64_t start) {
    return row(1, "NCRISC", start, 1024, "read A", "ZONE_START") +
           row(1, "NCRISC", start + 10, 1024, "row", "ZONE_START") +
           row(1, "NCRISC", start + 20, 1024, "row", "ZONE_END") +
           row(1, "NCRISC", start + 60, 1024, "read A", "ZONE_END");
  };
  return kFirstLines + kernel(1, "BRISC", 10'000, 10'100, 1024) +
         kernel(1, "NCRISC", 10'000, 10'080, 1024, within(10'000)) +
         kernel(2, "BRISC", 10'000, 10'300, 1024) +
         row(2, "TRISC_0", 10'200, 1024, "CB-COMPUTE-WAIT-FRONT", "ZONE_TOTAL", 77) +
         kernel(1, "BRISC", 20'000, 20'100, 1024) +
         kernel(1, "NCRISC", 20'000, 20'080, 1024, within(20'000)) +
         kernel(2, "BRISC", 20'000, 20'300, 1024) + kernel(1, "BRISC", 30'000, 30'500, 2048);
}

Log read_device(const std::string& text) {
  TextBytes source(text);
  return read_device_log(source, "device.csv");
}

const ZoneTime* find(const std::vector<ZoneTime>& zones, std::string_view risc,
                     std::string_view zone) {
  const auto found = std::ranges::find_if(
      zones, [&](const ZoneTime& other) { return other.risc == risc && other.zone == zone; });
  return found == zones.end() ? nullptr : &*found;
}

/// Returns an ops CSV of the programs of device_log(), as tt-metal would write it.
std::string ops_csv_text(int first_call = 1024) {
  std::string text =
      "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE FW START CYCLE,DEVICE FW END CYCLE,"
      "DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],METAL TRACE ID,"
      "METAL TRACE REPLAY SESSION ID\n";
  const auto add = [&](std::string_view name, int call, std::int64_t start, std::int64_t time,
                       std::string_view trace) {
    text += fmt::format("{},tt_dnn_device,{},0,{},{},{},{},{}\n", name, call, start - 5,
                        start + time + 5, time + 10, time, trace);
  };
  add("Matmul", first_call, 10'000, 300, "1,1");
  add("Matmul", first_call, 20'000, 300, "1,2");
  add("Softmax", first_call + 1024, 30'000, 500, ",");
  add("Softmax", first_call + 2048, 40'000, 500, ",");
  return text;
}

Log read_ops(const std::string& text) {
  TextBytes source(text);
  return read_ops_csv(source, "ops.csv", {.host_ids = true});
}

TEST(DeviceZones, OfAProgramAreItsRiscsKernelsAndWhatIsWithinThem) {
  const Log log = read_device(device_log());
  ASSERT_EQ(log.runs.size(), 1U);
  const auto& zones = log.runs[0].zones;
  ASSERT_EQ(zones.size(), 2U);
  EXPECT_EQ(zones[0].host_id, 1024U);
  EXPECT_EQ(zones[0].runs, 2U);
  EXPECT_EQ(zones[0].time, SimTime::nanoseconds(600));
  const ZoneTime* const brisc = find(zones[0].zones, "BRISC", "BRISC-KERNEL");
  ASSERT_NE(brisc, nullptr);
  EXPECT_EQ(brisc->entries, 4);
  EXPECT_EQ(brisc->time, SimTime::nanoseconds(800));
  EXPECT_EQ(brisc->longest, SimTime::nanoseconds(300));
  const ZoneTime* const outer = find(zones[0].zones, "NCRISC", "read A");
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->time, SimTime::nanoseconds(120));
  const ZoneTime* const inner = find(zones[0].zones, "NCRISC", "row");
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->time, SimTime::nanoseconds(20));
  const ZoneTime* const wait = find(zones[0].zones, "TRISC_0", "CB-COMPUTE-WAIT-FRONT");
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->time, SimTime::nanoseconds(77));
  EXPECT_EQ(find(zones[0].zones, "BRISC", "BRISC-FW"), nullptr);
  EXPECT_EQ(log.dropped.count(), 0U);
}

TEST(DeviceZones, ACoreIsBusyWhileItsLongestRiscIs) {
  const Log log = read_device(device_log());
  const std::vector<CoreTime>& cores = log.runs.at(0).cores;
  ASSERT_EQ(cores.size(), 2U);
  EXPECT_EQ(cores[0].x, 1);
  EXPECT_EQ(cores[0].y, 1);
  EXPECT_EQ(cores[0].busy, SimTime::nanoseconds(100 + 100 + 500)) << "BRISC, not NCRISC beside it";
  EXPECT_EQ(cores[1].x, 2);
  EXPECT_EQ(cores[1].busy, SimTime::nanoseconds(300 + 300));
}

TEST(DeviceZones, OfAnOpsCsvHaveItsNamesAndTheMeanOfTheRuns) {
  Log log = read_ops(ops_csv_text());
  add_zones(log, read_device(device_log()), "device.csv");
  const std::vector<OpZones> ops = zones_by_op(log.runs.at(0));
  ASSERT_EQ(ops.size(), 2U);
  const NameTable& names = log.runs[0].timeline.names;
  EXPECT_EQ(names.name(ops[0].name), "Matmul");
  EXPECT_EQ(ops[0].programs, 2U);
  EXPECT_EQ(ops[0].time, SimTime::nanoseconds(600));
  const ZoneTime* const brisc = find(ops[0].zones, "BRISC", "BRISC-KERNEL");
  ASSERT_NE(brisc, nullptr);
  EXPECT_EQ(brisc->entries, 4);
  EXPECT_EQ(brisc->time, SimTime::nanoseconds(800));
  EXPECT_EQ(ops[0].means[0], SimTime::nanoseconds(400)) << "200 ns a core, of each program";
  EXPECT_EQ(names.name(ops[1].name), "Softmax");
  EXPECT_EQ(ops[1].programs, 1U);
  EXPECT_NE(join(log.notes, "\n").find("device.csv has zones of 3 of the 4 programs"),
            std::string::npos);
}

TEST(DeviceZones, OfAnotherRunAreRefusedOrNamed) {
  Log other = read_ops(ops_csv_text(7 * 1024));
  EXPECT_THROW(add_zones(other, read_device(device_log()), "device.csv"), Error);
  Log slower = read_ops(ops_csv_text());
  std::string text = kFirstLines + kernel(1, "BRISC", 10'000, 10'900, 1024);
  add_zones(slower, read_device(text), "device.csv");
  EXPECT_NE(join(slower.notes, "\n").find("take 3.00 times as long"), std::string::npos);
}

TEST(DeviceZones, RowsOutOfOrderAreSaidNotToBeKnown) {
  const std::string early = kernel(1, "BRISC", 10'000, 10'100, 1024);
  const std::string late = kernel(1, "BRISC", 20'000, 20'100, 2048);
  EXPECT_TRUE(read_device(kFirstLines + early + late).notes.empty());
  const Log log = read_device(kFirstLines + late + early);
  EXPECT_NE(join(log.notes, "\n").find("not in the order of their times (at 1 kernel)"),
            std::string::npos);
}

TEST(DeviceZones, AZoneThatDoesNotEndWithItsKernelIsCounted) {
  const Log log =
      read_device(kFirstLines + kernel(1, "BRISC", 100, 200, 1024,
                                       row(1, "BRISC", 120, 1024, "open", "ZONE_START")));
  EXPECT_EQ(log.dropped.count(), 1U);
  EXPECT_EQ(log.runs.at(0).timeline.programs.size(), 1U);
}

}  // namespace
}  // namespace howard::profiler
