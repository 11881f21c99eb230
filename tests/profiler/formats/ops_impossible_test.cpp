// SPDX-License-Identifier: Apache-2.0
//
// What cannot have happened is left out of an ops CSV, and said.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "tests/profiler/formats/samples.h"

namespace howard::profiler {
namespace {

Log read_with_calls(std::string_view text) {
  TextBytes source(text);
  return read_ops_csv(source, "ops.csv", {.tensors = Tensors::read});
}

TEST(OpsImpossible, RowsThatAreThereTwiceAreLeftOutAndSaid) {
  const std::string softmax = kOpsRows.substr(kOpsRows.find("Softmax"));
  for (const std::string& text :
       {kOpsCsv + kOpsRows, kOpsCsv + kOpsCsv,
        kOpsCsv + softmax + kOpsRows.substr(0, kOpsRows.find("Softmax"))}) {
    const Log log = read_with_calls(text);
    ASSERT_EQ(log.runs.size(), 1U);
    EXPECT_EQ(log.runs[0].timeline.programs.size(), 3U);
    ASSERT_EQ(log.dropped.count(), 3U);
    EXPECT_EQ(log.dropped.reasons().at(0).text, "the row repeats another one");
    EXPECT_EQ(log.dropped.count_of("Matmul"), 2U);
  }
}

/// Returns a row of an op on 64 of 64 cores, without the cells of a tensor.
std::string whole_chip_row(int call, std::int64_t start, std::int64_t kernel) {
  return fmt::format("Matmul,tt_dnn_device,{},0,wormhole_b0,64,64,{},{},{},{}\n", call, start,
                     start + kernel + 1'000, kernel + 1'000, kernel);
}
constexpr std::string_view kWholeChipHeader =
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,CORE COUNT,"
    "AVAILABLE WORKER CORE COUNT,DEVICE FW START CYCLE,DEVICE FW END CYCLE,"
    "DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns]\n";

TEST(OpsImpossible, AProgramThatRunsOnWhereOthersBeginHasAnImpossibleDuration) {
  std::string text(kWholeChipHeader);
  for (int i = 0; i < 3; ++i) text += whole_chip_row(i + 1, 1'000'000 + i * 100'000, 6'920'000'000);
  for (int i = 3; i < 9; ++i) text += whole_chip_row(i + 1, 1'000'000 + i * 100'000, 50'000);
  TextBytes source(text);
  const Log log = read_ops_csv(source, "ops.csv");  // calls are not known
  ASSERT_EQ(log.runs.size(), 1U);
  EXPECT_EQ(log.runs[0].timeline.programs.size(), 6U) << "the three are left out";
  EXPECT_EQ(log.dropped.count_of("Matmul"), 3U);
}

TEST(OpsImpossible, AWindowOfAThousandTimesTheMedianIsLeftOutAndSaid) {
  std::string text(kWholeChipHeader);
  for (int i = 0; i < 8; ++i) text += whole_chip_row(i + 1, 1'000'000 + i * 100'000, 50'000);
  text += whole_chip_row(9, 2'000'000, 60'000'000);
  const Log log = read_with_calls(text);
  EXPECT_EQ(log.runs.at(0).timeline.programs.size(), 8U);
  ASSERT_EQ(log.dropped.count(), 1U);
  EXPECT_NE(log.dropped.reasons()[0].text.find("a thousand times the median"), std::string::npos);
}

TEST(OpsImpossible, LatenciesThatSpanOtherProgramsAreNotBelieved) {
  std::string text = kOpsCsv;
  constexpr std::string_view kCells = ",1016400,2000,";
  text.replace(text.find(kCells), kCells.size(), ",1016400,900000,");
  const Log log = read_with_calls(text);
  EXPECT_EQ(log.runs.at(0).timeline.programs.size(), 3U);
  const bool said = std::ranges::any_of(log.notes, [](const std::string& note) {
    return note.find("1 of OP TO OP LATENCY [ns] are longer") != std::string::npos;
  });
  EXPECT_TRUE(said);
}

TEST(OpsImpossible, AMissOfTheProgramCacheIsBelievedWhereTheHostTookTheTime) {
  const std::string text =
      "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,HOST DURATION [ns],DEVICE FW START CYCLE,"
      "DEVICE FW END CYCLE,DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],PROGRAM CACHE HIT\n"
      "a,tt_dnn_device,1,0,145000,1000,3000,2000,1900,False\n"
      "a,tt_dnn_device,2,0,8697,4000,6000,2000,1900,False\n"
      "a,tt_dnn_device,3,0,8697,7000,9000,2000,1900,True\n"
      "a,tt_dnn_device,4,0,,10000,12000,2000,1900,False\n";
  TextBytes source(text);
  const Log log = read_ops_csv(source, "ops.csv");
  std::string compiled;
  for (const ProgramRun& program : log.runs.at(0).timeline.programs) {
    compiled += program.compiled ? '1' : '0';
  }
  EXPECT_EQ(compiled, "1001") << "without a time of the host nothing denies it";
  const bool said = std::ranges::any_of(log.notes, [](const std::string& note) {
    return note.starts_with("taken for hits of the program cache: 1 with");
  });
  EXPECT_TRUE(said);
}

TEST(OpsImpossible, TimesThatEndAtAFullBufferAreSaid) {
  const auto notes = [](std::string_view last) {
    const std::string text =
        "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE FW START CYCLE,DEVICE FW END CYCLE,"
        "DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns]\n"
        "a,tt_dnn_device,1,0,1000,3000,2000,1900\n"
        "a,tt_dnn_device,2,0,,,,\n" +
        std::string(last);
    TextBytes source(text);
    const Log log = read_ops_csv(source, "ops.csv");
    return static_cast<bool>(std::ranges::count_if(log.notes, [](const std::string& note) {
      return note.starts_with("device ops at the end without times: 1;");
    }));
  };
  EXPECT_TRUE(notes(""));
  EXPECT_FALSE(notes("a,tt_dnn_device,3,0,4000,6000,2000,1900\n")) << "it is a hole";
}

}  // namespace
}  // namespace howard::profiler
