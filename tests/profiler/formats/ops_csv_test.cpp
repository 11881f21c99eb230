// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "profiler/formats/csv/csv_reader.h"
#include "profiler/formats/device_log/cycle_counter.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "profiler/formats/tt_metal_logs.h"
#include "tests/error_of.h"
#include "tests/profiler/formats/log_checks.h"
#include "tests/profiler/formats/samples.h"
#include "tests/profiler/formats/wormhole_device.h"

namespace howard::profiler {
namespace {

Log read(std::string_view text) {
  TextBytes source(text);
  return read_ops_csv(source, "ops.csv");
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

/// Returns what a read that must fail says.
std::string failure(std::string_view text) {
  return error_of([&] { read(text); });
}

const Timeline& only(const Log& log) {
  EXPECT_EQ(log.runs.size(), 1U);
  return log.runs.at(0).timeline;
}

TEST(OpsCsv, KernelsHaveTheirDurationsAndTheOpToOpTimesBetweenThem) {
  const Log log = read(kOpsCsv);
  const Timeline& timeline = only(log);
  ASSERT_EQ(timeline.programs.size(), 3U);
  const auto& programs = timeline.programs;
  EXPECT_EQ(timeline.names.name(programs[0].name), "Matmul");
  EXPECT_EQ(timeline.names.name(programs[1].name), "Softmax");
  EXPECT_EQ(programs[0].kernel.duration(), SimTime::microseconds(9));
  EXPECT_EQ(programs[1].kernel.duration(), SimTime::microseconds(4));
  EXPECT_EQ(programs[1].kernel.start - programs[0].kernel.end, SimTime::microseconds(2));
  EXPECT_EQ(programs[2].kernel.start - programs[1].kernel.end, SimTime::microseconds(3));
  EXPECT_GE(programs[0].kernel.start, SimTime::microseconds(1000));
  EXPECT_LE(programs[2].kernel.end, SimTime::nanoseconds(1'028'500));
  EXPECT_EQ(log.dropped.count(), 0U);
  ASSERT_EQ(log.runs[0].devices.size(), 1U);
  EXPECT_EQ(log.runs[0].devices[0].architecture, "wormhole_b0");
  EXPECT_EQ(log.runs[0].devices[0].clock, Frequency(1'000'000'000));
}

TEST(OpsCsv, ColumnsAreFoundByNameInAnyOrder) {
  const Log log = read(
      "NEW COLUMN,DEVICE KERNEL DURATION [ns],DEVICE FW START CYCLE,DEVICE FW DURATION [ns],"
      "OP CODE,DEVICE FW END CYCLE\n"
      "?,2000,5000,3000,Matmul,9050\n");
  EXPECT_EQ(only(log).programs[0].kernel.duration(), SimTime::microseconds(2));
  EXPECT_EQ(log.runs[0].devices[0].clock, Frequency(1'350'000'000));  // 4050 cycles in 3 us
}

TEST(OpsCsv, AMissingColumnIsNamed) {
  EXPECT_EQ(failure("OP CODE,DEVICE FW START CYCLE\na,1\n"),
            "cannot read ops.csv as ops_perf_results: line 1 has no column DEVICE KERNEL DURATION "
            "[ns]; accepted: a header with at least DEVICE KERNEL DURATION [ns]; OP CODE and "
            "DEVICE FW START CYCLE beside it tell what ran when");
  EXPECT_NE(failure("").find("the file is empty"), std::string::npos);
}

TEST(OpsCsv, WithoutAClockTheShippedOneIsTakenAndSaid) {
  const Log log = read(
      "OP CODE,DEVICE ARCH,DEVICE FW START CYCLE,DEVICE KERNEL DURATION [ns]\n"
      "a,blackhole,1350,1000\n");
  EXPECT_EQ(only(log).programs[0].kernel.start, SimTime::microseconds(1));
  ASSERT_EQ(log.notes.size(), 4U) << "no device, no latency, no firmware, no clock";
  EXPECT_NE(log.notes[3].find("1350 MHz"), std::string::npos);
}

TEST(OpsCsv, BadCellsCostTheirRowsAndAreNamedByLineAndColumn) {
  const Log log = read(replaced(kOpsCsv, ",1011400,", ",abc,"));
  EXPECT_EQ(only(log).programs.size(), 2U);
  EXPECT_EQ(reasons(log),
            std::vector<std::string>{"1 row: DEVICE FW START CYCLE (column 10) is not "
                                     "an integer, first on line 4: 'abc'"});
}

TEST(OpsCsv, MoreCoresThanAChipHasAndPartsOfACoreAreNoNumberOfCores) {
  const Log log = read(
      "OP CODE,CORE COUNT,DEVICE FW START CYCLE,DEVICE KERNEL DURATION [ns]\n"
      "a,100000,1000,1000\nb,4096.0,9000,1000\nc,-1,19000,1000\nd,64.5,29000,1000\n");
  EXPECT_EQ(only(log).programs.at(0).cores, 4096);
  EXPECT_EQ(reasons(log),
            std::vector<std::string>{"3 rows: CORE COUNT (column 2) is not a number of cores, 0 to "
                                     "4096, first on line 2: '100000'"});
}

TEST(OpsCsv, NegativeAndEndlessDurationsAreDropped) {
  EXPECT_EQ(reasons(read(replaced(kOpsCsv, ",4000,", ",-4000,"))),
            std::vector<std::string>{"1 row: DEVICE KERNEL DURATION [ns] (column 14) is negative, "
                                     "first on line 4: '-4000'"});
  EXPECT_EQ(
      reasons(read(replaced(kOpsCsv, ",4000,", ",9e15,"))),
      std::vector<std::string>{"1 row: DEVICE KERNEL DURATION [ns] (column 14) is over a day, "
                               "first on line 4: '9e15'"});
  EXPECT_EQ(reasons(read(replaced(kOpsCsv, ",1016400,", ",1011300,"))),
            std::vector<std::string>{"1 row: DEVICE FW END CYCLE is before DEVICE FW START CYCLE, "
                                     "first on line 4: 'Softmax'"});
}

TEST(OpsCsv, AnOverflowedCounterIsFoundByTheDurationBesideIt) {
  const Log log = read(replaced(kOpsCsv, ",1016400,", ",4295983696,"));
  EXPECT_EQ(only(log).programs.size(), 2U);
  EXPECT_EQ(log.runs[0].devices[0].clock, Frequency(1'000'000'000));
  ASSERT_EQ(log.dropped.count(), 1U);
  EXPECT_NE(reasons(log)[0].find("a counter overflowed?"), std::string::npos);
}

TEST(OpsCsv, ACounterThatWrapsIsContinued) {
  // The second op starts 2^44 - 1000 cycles in, and ends after the wrap.
  std::string text(kOpsHeader);
  text +=
      "a,tt_dnn_device,1024,0,wormhole_b0,,,1,,17592186034416,17592186039416,0,5000,5000,,,,,,,,,"
      "\n";
  text += "b,tt_dnn_device,2048,0,wormhole_b0,,,1,,17592186043416,4000,4000,5000,5000,,,,,,,,,\n";
  text += "c,tt_dnn_device,3072,0,wormhole_b0,,,1,,10000,15000,6000,5000,5000,,,,,,,,,\n";
  const Log log = read(text);
  const auto& programs = only(log).programs;
  ASSERT_EQ(programs.size(), 3U);
  EXPECT_EQ(log.dropped.count(), 0U);
  EXPECT_EQ(programs[1].kernel.duration(), SimTime::microseconds(5));
  EXPECT_EQ(programs[2].kernel.start - programs[1].kernel.end, SimTime::microseconds(6));
}

TEST(OpsCsv, ARowThatTheFileEndsInIsDroppedAndSaid) {
  const std::string text = kOpsCsv.substr(0, kOpsCsv.size() - 20);
  const Log log = read(text);
  EXPECT_EQ(only(log).programs.size(), 2U);
  EXPECT_EQ(log.notes, std::vector<std::string>{"the file ends within a row"});
  EXPECT_EQ(log.dropped.count(), 1U);
}

TEST(OpsCsv, RowsOfAnotherWidthAreDropped) {
  const std::string row = kOpsCsv.substr(kOpsCsv.rfind("Matmul"));
  const Log log = read(kOpsCsv + "a,b\n" + row.substr(0, row.size() - 1) + ",more\n" +
                       replaced(row, "1018500,1028500", "2018500,2028500"));
  EXPECT_EQ(only(log).programs.size(), 4U);
  EXPECT_EQ(reasons(log),
            (std::vector<std::string>{"1 row: fewer cells than columns, first on line 6: '2'",
                                      "1 row: more cells than columns, first on line 7: '24'"}));
}

/// Returns the three ops as another run has them: half a millisecond earlier after a reset.
std::string rows_of_another_run() {
  std::string rows = kOpsRows;
  for (const auto& [was, is] : {std::pair("1000000,1010000", "500000,510000"),
                                std::pair("1011400,1016400", "511400,516400"),
                                std::pair("1018500,1028500", "518500,528500")}) {
    rows = replaced(rows, was, is);
  }
  return rows;
}

TEST(OpsCsv, ARepeatedHeaderBeginsAnotherRun) {
  const Log log = read(kOpsCsv + std::string(kOpsHeader) + rows_of_another_run());
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[1].timeline.programs.size(), 3U);
  EXPECT_EQ(log.dropped.count(), 0U);
  // These are rows of another run, which only the header tells.
  const std::string other =
      "Exp,tt_dnn_device,4096,0,wormhole_b0,{},,8,6000,2000000,2005000,,5000,4000,,,,,,,,,\n";
  EXPECT_EQ(read(kOpsCsv + other).runs.size(), 1U);
  EXPECT_EQ(read(kOpsCsv + std::string(kOpsHeader) + other).runs.size(), 2U);
}

TEST(OpsCsv, CyclesThatFallWithTheFirstCallBeginAnotherRun) {
  const Log log = read(kOpsCsv + rows_of_another_run());
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[1].timeline.programs.size(), 3U);
}

TEST(OpsCsv, RowsInAnyOrderAreOneRun) {
  const std::vector<std::size_t> lines = {kOpsHeader.size(), kOpsCsv.find("Softmax"),
                                          kOpsCsv.find("Matmul", kOpsCsv.find("Softmax"))};
  const std::string first = kOpsCsv.substr(lines[0], lines[1] - lines[0]);
  const std::string second = kOpsCsv.substr(lines[1], lines[2] - lines[1]);
  const std::string third = kOpsCsv.substr(lines[2]);
  EXPECT_EQ(read(std::string(kOpsHeader) + third + first + second).runs.size(), 1U);
}

TEST(OpsCsv, SignpostsBeginSectionsAndHostOpsAreSummed) {
  std::string text(kOpsHeader);
  text += "forward,signpost,,,,,,,,,,,,,,,,,,,,,\n";
  text += "a,tt_dnn_device,1,0,,,,1,,5000,6000,0,1000,1000,,,,,,,,,\n";
  text += "backward,signpost,,,,,,,,,,,,,,,,,,,,,\n";
  text += "a,tt_dnn_device,2,0,,,,1,,8000,9000,2000,1000,1000,,,,,,,,,\n";
  text += "to_torch,python_fallback,3,,,,,,700,,,,,,,,,,,,,,\n";
  text += "to_torch,python_fallback,4,,,,,,300,,,,,,,,,,,,,,\n";
  text += "a,tt_dnn_device,5,0,,,,1,,,,,,,,,,,,,,,\n";
  const Log log = read(text);
  const Timeline& timeline = only(log);
  ASSERT_EQ(timeline.programs.size(), 2U);
  EXPECT_EQ(timeline.names.name(timeline.programs[0].section), "forward");
  EXPECT_EQ(timeline.names.name(timeline.programs[1].section), "backward");
  ASSERT_EQ(log.runs[0].host_ops.size(), 1U);
  EXPECT_EQ(log.runs[0].host_ops[0].calls, 2U);
  EXPECT_EQ(log.runs[0].host_ops[0].time, SimTime::microseconds(1));
  EXPECT_EQ(reasons(log), std::vector<std::string>{
                              "1 row: a device op without device times, first on line 8: 'a'"});
}

TEST(OpsCsv, DevicesHaveClocksAndTracesReplaysOfTheirOwn) {
  std::string text(kOpsHeader);
  text += "a,tt_dnn_device,1,0,wormhole_b0,,,1,,5000,7000,0,2000,2000,,,,,,,,1,1\n";
  text += "a,tt_dnn_device,1,0,wormhole_b0,,,1,,9000,11000,2000,2000,2000,,,,,,,,1,2\n";
  text += "a,tt_dnn_device,1,1,blackhole,,,1,,5400,8100,0,2000,2000,,,,,,,,,\n";
  const Log log = read(text);
  const auto& programs = only(log).programs;
  ASSERT_EQ(programs.size(), 3U);
  EXPECT_EQ(programs[0].replay, 1U);
  EXPECT_EQ(programs[1].replay, 2U);
  EXPECT_EQ(programs[2].replay, 0U);
  EXPECT_EQ(programs[2].device, 1);
  EXPECT_EQ(programs[2].kernel.start, SimTime::microseconds(4));
  ASSERT_EQ(log.runs[0].devices.size(), 2U);
  EXPECT_EQ(log.runs[0].devices[1].clock, Frequency(1'350'000'000));
}

/// Returns programs of two devices, with any overlap that a device with sub-devices may have.
std::vector<OpRecord> random_records(std::mt19937& random, Frequency clock) {
  std::vector<OpRecord> records;
  auto cycle = static_cast<std::int64_t>(random() % 1000);
  for (std::uint64_t i = 1; i <= 1 + random() % 20; ++i) {
    OpRecord& record = records.emplace_back();
    record.run.number = i;
    record.run.device = static_cast<std::uint16_t>(random() % 2);
    record.run.replay = static_cast<std::uint32_t>(random() % 3);
    if (record.run.replay > 0) record.run.trace = static_cast<std::uint32_t>(random() % 3);
    cycle += static_cast<std::int64_t>(random() % 5000);
    record.run.kernel = {
        time_of_cycles(cycle, clock),
        time_of_cycles(cycle + 2000 + static_cast<std::int64_t>(random() % 9000), clock)};
    record.name = std::vector<std::string>{"matmul", "a,\"b\"", "line\nbreak", "é"}[random() % 4];
    if (random() % 2 == 0) {
      record.facts = {.operation = "Matmul",
                      .fidelity = "HiFi2",
                      .attributes = {{"config", "2D, \"8x7\""}},
                      .inputs = {{.dimensions = {1, 2, 19, 64}, .dtype = "bfloat16"}},
                      .outputs = {{.dimensions = {1, 2, 19, 33}, .dtype = "float32"}}};
    }
  }
  return records;
}

TEST(OpsCsv, WhatIsWrittenReadsBack) {
  for (const Frequency clock : {Frequency(1'000'000'000), Frequency(1'350'000'000)}) {
    std::mt19937 random(7);
    for (int i = 0; i < 200; ++i) {
      const std::vector<OpRecord> records = random_records(random, clock);
      const Log log = read(ops_csv(records, {"wormhole_b0", clock, 64}));
      const Timeline& timeline = only(log);
      ASSERT_EQ(timeline.programs.size(), records.size());
      ASSERT_EQ(log.dropped.count(), 0U) << reasons(log)[0];
      std::vector<std::size_t> order;  // the reader goes device by device
      for (const int device : {0, 1}) {
        for (std::size_t k = 0; k < records.size(); ++k) {
          if (records[k].run.device == device) order.push_back(k);
        }
      }
      for (std::size_t k = 0; k < order.size(); ++k) {
        const OpRecord& written = records[order[k]];
        const ProgramRun& program = timeline.programs[k];
        const bool named = !written.facts.operation.empty();
        EXPECT_EQ(timeline.names.name(program.name), named ? "Matmul" : written.name);
        EXPECT_EQ(program.trace, written.run.trace);
        EXPECT_EQ(program.replay, written.run.replay);
        EXPECT_EQ(program.device, written.run.device);
        // The file counts cycles and whole nanoseconds, which are the same only at 1 GHz.
        const std::int64_t tolerance = clock == Frequency(1'000'000'000) ? 0 : 1'000;
        const Span& kernel = written.run.kernel;
        EXPECT_LE(std::abs((program.kernel.start - kernel.start).ps()), tolerance);
        EXPECT_LE(std::abs((program.kernel.end - kernel.end).ps()), tolerance);
      }
    }
  }
}

/// This is the first line of a version 2.1 file (tt-perf-report, tests/data/wh_clip_encoder_2.csv).
constexpr std::string_view kVersion21 =
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,"
    "CORE COUNT,AVAILABLE WORKER CORE COUNT,PARALLELIZATION STRATEGY,HOST START TS,"
    "HOST END TS,HOST DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,"
    "OP TO OP LATENCY [ns],OP TO OP LATENCY BR/NRISC START [ns],DEVICE FW DURATION [ns],"
    "DEVICE KERNEL DURATION [ns],DEVICE KERNEL DURATION DM START [ns],"
    "DEVICE KERNEL DURATION PER CORE MIN [ns],DEVICE KERNEL DURATION PER CORE MAX [ns],"
    "DEVICE KERNEL DURATION PER CORE AVG [ns],DEVICE KERNEL FIRST TO LAST START [ns],"
    "DEVICE BRISC KERNEL DURATION [ns],DEVICE NCRISC KERNEL DURATION [ns],"
    "DEVICE TRISC0 KERNEL DURATION [ns],DEVICE TRISC1 KERNEL DURATION [ns],"
    "DEVICE TRISC2 KERNEL DURATION [ns],DEVICE ERISC KERNEL DURATION [ns],"
    "DEVICE COMPUTE CB WAIT FRONT [ns],DEVICE COMPUTE CB RESERVE BACK [ns],"
    "DISPATCH TOTAL CQ CMD OP TIME [ns],DISPATCH GO SEND WAIT TIME [ns],"
    "INPUT_0_W_PAD[LOGICAL],INPUT_0_Z_PAD[LOGICAL],INPUT_0_Y_PAD[LOGICAL],"
    "INPUT_0_X_PAD[LOGICAL],INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY,"
    "INPUT_1_W_PAD[LOGICAL],INPUT_1_Z_PAD[LOGICAL],INPUT_1_Y_PAD[LOGICAL],"
    "INPUT_1_X_PAD[LOGICAL],INPUT_1_LAYOUT,INPUT_1_DATATYPE,INPUT_1_MEMORY,"
    "INPUT_2_W_PAD[LOGICAL],INPUT_2_Z_PAD[LOGICAL],INPUT_2_Y_PAD[LOGICAL],"
    "INPUT_2_X_PAD[LOGICAL],INPUT_2_LAYOUT,INPUT_2_DATATYPE,INPUT_2_MEMORY,"
    "OUTPUT_0_W_PAD[LOGICAL],OUTPUT_0_Z_PAD[LOGICAL],OUTPUT_0_Y_PAD[LOGICAL],"
    "OUTPUT_0_X_PAD[LOGICAL],OUTPUT_0_LAYOUT,OUTPUT_0_DATATYPE,OUTPUT_0_MEMORY,"
    "METAL TRACE ID,METAL TRACE REPLAY SESSION ID,COMPUTE KERNEL SOURCE,COMPUTE KERNEL HASH,"
    "DATA MOVEMENT KERNEL SOURCE,DATA MOVEMENT KERNEL HASH,TENSIX DM 0 MAX KERNEL SIZE [B],"
    "TENSIX DM 1 MAX KERNEL SIZE [B],TENSIX COMPUTE 0 MAX KERNEL SIZE [B],"
    "TENSIX COMPUTE 1 MAX KERNEL SIZE [B],TENSIX COMPUTE 2 MAX KERNEL SIZE [B],"
    "ACTIVE ETH DM 0 MAX KERNEL SIZE [B],ACTIVE ETH DM 1 MAX KERNEL SIZE [B],"
    "IDLE ETH DM 0 MAX KERNEL SIZE [B],IDLE ETH DM 1 MAX KERNEL SIZE [B],PM IDEAL [ns],"
    "PM COMPUTE [ns],PM BANDWIDTH [ns],PM REQ I BW,PM REQ O BW,PM FPU UTIL (%),NOC UTIL (%),"
    "DRAM BW UTIL (%),NPE CONG IMPACT (%),SFPU Util Min (%),SFPU Util Median (%),"
    "SFPU Util Max (%),Avg SFPU util on full grid (%),FPU Util Min (%),FPU Util Median (%),"
    "FPU Util Max (%),Avg FPU util on full grid (%),MATH Util Min (%),MATH Util Median (%),"
    "MATH Util Max (%),Avg Math util on full grid (%)";

TEST(OpsCsv, TheHeaderIsThatOfVersion21) {
  const std::string text = ops_csv({}, kWormholeDevice);
  EXPECT_EQ(text, std::string(kVersion21) + "\n");
}

/// Cells of a written file are whole numbers, or nothing, where reports compute. They have no
/// quotes, over which a reader that splits lines at commas would stumble.
TEST(OpsCsv, CellsAreOfTheKindsThatReportsRead) {
  static const ProgramFacts facts{.operation = "Matmul",
                                  .fidelity = "HiFi2",
                                  .worker_cores = 56,
                                  .attributes = {{"transpose_a", "false"}, {"grid", "(x=8;y=7)"}},
                                  .inputs = {{.dimensions = {1, 1, 19, 64}, .dtype = "bfloat8_b"},
                                             {.dimensions = {1, 1, 19, 33},
                                              .dtype = "uint32",
                                              .layout = "row_major",
                                              .memory = "L1_INTERLEAVED"}},
                                  .outputs = {}};
  const std::string text =
      ops_csv(op_records(sample_events(), [](std::uint64_t) { return &facts; }), kWormholeDevice);
  TextBytes source(text);
  CsvReader csv(source);
  ASSERT_TRUE(csv.next());
  const std::vector<std::string> header(csv.fields().begin(), csv.fields().end());
  ASSERT_TRUE(csv.next());
  EXPECT_EQ(csv.fields()[5], "{'transpose_a': 'false'; 'grid': '(x=8;y=7)'}");
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string_view cell = csv.fields()[i];
    EXPECT_EQ(cell.find_first_of(",\""), std::string_view::npos) << header[i];
    const bool numeric = header[i].ends_with("[ns]") || header[i].ends_with("CYCLE") ||
                         header[i].ends_with("TS") || header[i].ends_with("COUNT") ||
                         header[i].ends_with(" ID");
    if (numeric && !cell.empty()) {
      EXPECT_EQ(cell.find_first_not_of("0123456789"), std::string_view::npos) << header[i];
    }
  }
  const auto cell = [&](std::string_view name) {
    const auto found = std::ranges::find(header, name);
    return csv.fields()[static_cast<std::size_t>(found - header.begin())];
  };
  EXPECT_EQ(cell("OP TYPE"), "tt_dnn_device");
  EXPECT_EQ(cell("DEVICE ARCH"), "wormhole_b0");
  EXPECT_EQ(cell("AVAILABLE WORKER CORE COUNT"), "56");
  EXPECT_EQ(cell("INPUT_0_X_PAD[LOGICAL]"), "64[64]");
  EXPECT_EQ(cell("INPUT_0_DATATYPE"), "BFLOAT8_B");
  EXPECT_EQ(cell("INPUT_0_MEMORY"), "DEV_0_DRAM_INTERLEAVED");
  EXPECT_EQ(cell("INPUT_1_Y_PAD[LOGICAL]"), "19[19]");
  EXPECT_EQ(cell("INPUT_1_LAYOUT"), "ROW_MAJOR");
  EXPECT_EQ(cell("INPUT_1_MEMORY"), "DEV_0_L1_INTERLEAVED");
  EXPECT_EQ(cell("METAL TRACE ID"), "");
}

TEST(OpsCsv, TracedProgramsSayWhichReplayOfWhichTrace) {
  std::vector<OpRecord> records(2);
  records[1].run = {.number = 2, .trace = 5, .replay = 3, .kernel = {{}, SimTime::microseconds(1)}};
  const std::string text = ops_csv(records, kWormholeDevice);
  std::vector<std::optional<std::int64_t>> numbers;
  DroppedRows dropped;
  TextBytes source(text);
  for_each_op_row(source, "ops.csv", Tensors::skipped, dropped, [&](const OpRow& row) {
    numbers.push_back(row.trace);
    numbers.push_back(row.replay);
  });
  EXPECT_EQ(numbers, (std::vector<std::optional<std::int64_t>>{{}, {}, 5, 3}));
}

TEST(OpsCsv, QuotedCellsWithLineBreaksAreOneRow) {
  const Log log = read(
      "OP CODE,ATTRIBUTES,DEVICE FW START CYCLE,DEVICE KERNEL DURATION [ns]\n"
      "\"Mat,\nmul\",\"{'a': 'b';\r\n 'c'}\",1000,20\n"
      "Softmax,,bad,20\n");
  EXPECT_EQ(only(log).names.name(only(log).programs.at(0).name), "Mat,\nmul");
  ASSERT_EQ(log.dropped.reasons().size(), 1U);
  EXPECT_EQ(log.dropped.reasons()[0].first_line, 5U);
}

TEST(OpsCsv, TheWriterFillsTheColumnsThatReportsReadByName) {
  const std::vector<OpRecord> records = op_records(sample_events(), [](std::uint64_t) {
    static const ProgramFacts facts{.operation = "Matmul",
                                    .fidelity = "HiFi2",
                                    .attributes = {{"bcast_batch", "1"}, {"transpose_b", "true"}},
                                    .inputs = {{.dimensions = {1, 1, 19, 64}, .dtype = "bfloat16"}},
                                    .outputs = {}};
    return &facts;
  });
  const std::string text = ops_csv(records, {"wormhole_b0", Frequency(1'000'000'000), 56});
  TextBytes source(text);
  CsvReader csv(source);
  ASSERT_TRUE(csv.next());
  ASSERT_EQ(csv.fields().size(), 98U);
  std::vector<std::string> header(csv.fields().begin(), csv.fields().end());
  ASSERT_TRUE(csv.next());
  ASSERT_TRUE(csv.next());
  ASSERT_EQ(csv.fields().size(), 98U);
  const auto cell = [&](std::string_view name) {
    const auto found = std::ranges::find(header, name);
    return csv.fields()[static_cast<std::size_t>(found - header.begin())];
  };
  EXPECT_EQ(cell("OP CODE"), "Matmul");
  EXPECT_EQ(cell("GLOBAL CALL COUNT"), "2048");
  EXPECT_EQ(cell("CORE COUNT"), "2");
  EXPECT_EQ(cell("AVAILABLE WORKER CORE COUNT"), "56");
  EXPECT_EQ(cell("HOST START TS"), "60000");
  EXPECT_EQ(cell("HOST DURATION [ns]"), "5000");
  EXPECT_EQ(cell("DEVICE FW START CYCLE"), "68000");
  EXPECT_EQ(cell("DEVICE KERNEL DURATION [ns]"), "12000");
  EXPECT_EQ(cell("OP TO OP LATENCY [ns]"), "18000");
  EXPECT_EQ(cell("DEVICE NCRISC KERNEL DURATION [ns]"), "7000");
  EXPECT_EQ(cell("DEVICE TRISC1 KERNEL DURATION [ns]"), "9000");
  EXPECT_EQ(cell("DISPATCH TOTAL CQ CMD OP TIME [ns]"), "1000");
  EXPECT_EQ(cell("INPUT_0_Y_PAD[LOGICAL]"), "32[19]");
  EXPECT_EQ(cell("INPUT_0_DATATYPE"), "BFLOAT16");
  EXPECT_EQ(cell("INPUT_1_Y_PAD[LOGICAL]"), "");
  EXPECT_EQ(cell("PM IDEAL [ns]"), "") << "of work that nobody knows";
}

TEST(OpsCsv, TheWriterFillsThePerformanceModel) {
  // 2 us at the peak of the matrix units, 3 us at that of the DRAM, in kernels of 12 us.
  static const ProgramFacts facts{.operation = "Matmul",
                                  .work = {.flops = Flops(2'000'000),
                                           .dram = Bytes(300'000),
                                           .peak_flops = 1e12,
                                           .peak_bandwidth = 1e11}};
  const std::string text =
      ops_csv(op_records(sample_events(), [](std::uint64_t) { return &facts; }), kWormholeDevice);
  TextBytes source(text);
  CsvReader csv(source);
  ASSERT_TRUE(csv.next());
  const std::vector<std::string> header(csv.fields().begin(), csv.fields().end());
  ASSERT_TRUE(csv.next());
  ASSERT_EQ(csv.fields().size(), header.size());
  const auto cell = [&](std::string_view name) {
    const auto found = std::ranges::find(header, name);
    return csv.fields()[static_cast<std::size_t>(found - header.begin())];
  };
  EXPECT_EQ(cell("PM IDEAL [ns]"), "3000");
  EXPECT_EQ(cell("PM COMPUTE [ns]"), "2000");
  EXPECT_EQ(cell("PM BANDWIDTH [ns]"), "3000");
  EXPECT_EQ(cell("PM FPU UTIL (%)"), "16.67");
  EXPECT_EQ(cell("DRAM BW UTIL (%)"), "25.00");
}

TEST(OpsCsv, TheCppReportIsReadByItsOwnNames) {
  const Log log = read(
      "GLOBAL CALL COUNT,DEVICE ID,OP NAME,SUB DEVICE ID,DEVICE FW START CYCLE,DEVICE FW END CYCLE,"
      "DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns]\n"
      "1024,0,Matmul,0,5000,9000,4000,3000\n"
      "2048,0,AllGather,1,6000,8000,2000,1500\n");
  EXPECT_EQ(only(log).names.name(only(log).programs.at(0).name), "Matmul");
  EXPECT_EQ(only(log).programs.at(1).sub_device, 1);
  EXPECT_EQ(log.dropped.count(), 0U);
}

TEST(OpsCsv, WithoutStartsOnlyTheKernelsAreKnown) {
  const Log log = read("OP CODE,DEVICE ID,DEVICE KERNEL DURATION [ns]\na,0,2000\nb,0,3000\n");
  EXPECT_FALSE(log.runs[0].knows_starts);
  EXPECT_EQ(only(log).programs.at(0).kernel.duration(), SimTime::microseconds(2));
  EXPECT_EQ(only(log).programs.at(1).kernel.duration(), SimTime::microseconds(3));
  ASSERT_EQ(log.notes.size(), 1U);
  EXPECT_NE(log.notes[0].find("DEVICE FW START CYCLE"), std::string::npos);
}

}  // namespace
}  // namespace howard::profiler
