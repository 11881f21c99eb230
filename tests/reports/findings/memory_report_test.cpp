// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/memory_report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "reports/pictures/gnuplot.h"
#include "reports/tables/terminal_table.h"

namespace howard::reports {
namespace {

using enum MemoryAction;
using enum MemoryKind;

profiler::MemoryUse sample() {
  const auto at = [](std::int64_t time) { return SimTime::microseconds(time); };
  return profiler::memory_use(std::vector<MemoryEvent>{
      {at(0), allocate, dram, 1, Bytes(4'000'000), "weights", "model"},
      {at(1), allocate, dram, 2, Bytes(1'000'000), "bias", "model"},
      {at(2), allocate, dram, 3, Bytes(3'000'000), "activation", "forward"},
      {at(2), allocate, dram, 4, Bytes(3'000'000), "activation", "forward"},
      {at(3), allocate, l1_circular_buffer, 1, Bytes(2048), "matmul", "forward"},
      {at(4), release, l1_circular_buffer, 1, Bytes(), "", "forward"},
      {at(5), release, dram, 3, Bytes(), "", "backward"},
      {at(6), release, dram, 9, Bytes(), "", "backward"}});
}

/// Returns a folder that no other test of this or another process uses at the same time.
std::filesystem::path test_folder() {
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  return std::filesystem::path(::testing::TempDir()) /
         ("howard memory " + std::string(test.name()) + " " + std::to_string(::getpid()));
}

TEST(MemoryReport, ShowsTheTrackersFields) {
  EXPECT_EQ(terminal_table(memory_phases_table(sample()), {}),
            "memory by phase\n"
            "\n"
            "phase     DRAM peak  current  segment peak  allocated  released  change  L1 peak  "
            "circular buffers  buffers\n"
            "                 MB       MB            MB         MB        MB      MB       kB  "
            "              kB        B\n"
            "--------  ---------  -------  ------------  ---------  --------  ------  -------  "
            "----------------  -------\n"
            "model         5.000    5.000         5.000      5.000     0.000   5.000    0.000  "
            "           0.000        0\n"
            "forward      11.000   11.000         6.000      6.000     0.000   6.000    2.048  "
            "           2.048        0\n"
            "backward     11.000    8.000         0.000      0.000     3.000  -3.000    0.000  "
            "           0.000        0\n"
            "\n"
            "warning: events left out: 1 (releases of buffers from before the recording, or "
            "allocations of live ones)\n");
}

TEST(MemoryReport, ShowsWhoHeldThePeak) {
  const Table table = memory_holders_table(sample(), 2);
  std::vector<std::string> cells;
  for (const TableRow& row : table.rows) {
    for (const Cell& cell : row.cells) cells.push_back(cell.text);
  }
  EXPECT_EQ(cells, (std::vector<std::string>{"DRAM",
                                             "forward",
                                             "activation",
                                             "2",
                                             "6.000",
                                             "54.5",  //
                                             "DRAM",
                                             "model",
                                             "weights",
                                             "1",
                                             "4.000",
                                             "36.4",  //
                                             "DRAM",
                                             "",
                                             "other names: 1",
                                             "1",
                                             "1.000",
                                             "9.1",  //
                                             "L1 circular buffer",
                                             "forward",
                                             "matmul",
                                             "1",
                                             "0.002",
                                             "100.0"}));
}

TEST(MemoryReport, ListsEveryBuffersLifetime) {
  EXPECT_EQ(buffers_csv(sample()),
            "memory,buffer,name,phase,bytes,allocated_ps,released_ps\n"
            "DRAM,1,weights,model,4000000,0,\n"
            "DRAM,2,bias,model,1000000,1000000,\n"
            "DRAM,3,activation,forward,3000000,2000000,5000000\n"
            "DRAM,4,activation,forward,3000000,2000000,\n"
            "L1 circular buffer,1,matmul,forward,2048,3000000,4000000\n");
}

TEST(MemoryReport, DrawsMemoryOverTime) {
  const std::filesystem::path folder = test_folder();
  std::filesystem::create_directories(folder);
  const PlotFiles files = write_memory_plot(sample(), "run", "Memory of a run", {folder});
  EXPECT_EQ(read_file(folder / "run_memory.dat"),
            "# columns: time (us) | DRAM (MB) | L1 (kB)\n"
            "0 4 0\n1 5 0\n2 8 0\n2 11 0\n3 11 2.048\n4 11 0\n5 8 0\n");
  const bool drawn = find_gnuplot().has_value();
  const std::string svg = drawn ? read_file(folder / "run_memory.svg") : "";
  std::filesystem::remove_all(folder);
  if (!drawn) GTEST_SKIP() << "no gnuplot on PATH";
  EXPECT_EQ(files.not_rendered, "");
  for (const char* word : {"DRAM (MB)", "L1 (kB)", "forward", "backward"}) {
    EXPECT_NE(svg.find(word), std::string::npos) << word;
  }
}

/// Returns phases that begin a microsecond after each other, and a last one that is long.
profiler::MemoryUse many_phases(int count) {
  std::vector<std::string> names;  // events hold views of them
  for (int i = 0; i < count; ++i) names.push_back("phase " + std::to_string(i));
  std::vector<MemoryEvent> events;
  for (const std::string& name : names) {
    const std::uint64_t id = events.size();
    events.push_back({SimTime::microseconds(static_cast<std::int64_t>(id)), allocate, dram, id,
                      Bytes(1000), "buffer", name});
  }
  events.push_back({SimTime::microseconds(10'000), release, dram, 0, Bytes(), "", names.back()});
  return profiler::memory_use(events);
}

/// Returns where the names are in the picture, from left to right, as shares of the axis.
std::vector<double> name_places(const profiler::MemoryUse& use) {
  const std::filesystem::path folder = test_folder();
  write_memory_plot(use, "run", "t", {folder});
  std::vector<double> places;
  for (const std::string& line : split(read_file(folder / "run_memory.gp"), '\n')) {
    const std::size_t at = line.find(" at graph ");
    if (line.starts_with("set label 'phase")) places.push_back(std::stod(line.substr(at + 10)));
  }
  std::filesystem::remove_all(folder);
  return places;
}

TEST(MemoryReport, NamesOfPhasesThatFollowEachOtherCloselyDoNotOverlap) {
  const std::vector<double> places = name_places(many_phases(20));
  ASSERT_EQ(places.size(), 20U) << "the last one too";
  constexpr double kAxis = 900;  // in pixels, at most
  for (std::size_t i = 1; i < places.size(); ++i) {
    EXPECT_GE((places[i] - places[i - 1]) * kAxis, kLineHeight);
  }
  EXPECT_LE(places.back(), 1);
}

TEST(MemoryReport, OfMorePhasesThanNamesFitTheLongestHaveOne) {
  const std::vector<double> places = name_places(many_phases(200));
  EXPECT_LT(places.size(), 200U);
  EXPECT_GT(places.size(), 20U);
  EXPECT_GE(places.front(), 0);
  EXPECT_LE(places.back(), 1);
}

TEST(MemoryReport, OfNothingIsEmpty) {
  const profiler::MemoryUse use = profiler::memory_use({});
  EXPECT_TRUE(memory_phases_table(use).rows.empty());
  EXPECT_TRUE(memory_holders_table(use, 3).rows.empty());
  EXPECT_TRUE(write_memory_plot(use, "run", "t", {"/nowhere"}).written.empty());
}

}  // namespace
}  // namespace howard::reports
