// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/bottleneck_report.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/tables/terminal_table.h"

namespace howard::reports {
namespace {

profiler::OpRun run(std::string_view name, std::int64_t duration, std::int64_t idle,
                    std::int64_t flops, std::int64_t bytes) {
  return {.name = name,
          .duration = SimTime::microseconds(duration),
          .idle_before = SimTime::microseconds(idle),
          .flops = Flops(flops),
          .dram = Bytes(bytes),
          .peak_flops = 1e12,
          .peak_bandwidth = 1e11,
          .limited_by = name == "matmul" ? "math" : ""};
}

TEST(BottleneckReport, ShowsWhatBoundsEachOp) {
  const profiler::Bottlenecks found = profiler::find_bottlenecks(std::vector{
      run("matmul", 100, 20, 80'000'000, 1'000'000), run("copy", 40, 60, 0, 3'000'000)});
  const Table table = bottleneck_table("op", found.by_op, found.all, 10);
  EXPECT_EQ(terminal_table(table, {}),
            "time by op\n"
            "\n"
            "op      programs   time  share  bound by       longest stage  idle  compute  DRAM  "
            "kernel  achieved  attainable  intensity\n"
            "                     us      %                                   %        %     %  "
            "     %    GFLOPS      GFLOPS     FLOP/B\n"
            "------  --------  -----  -----  -------------  -------------  ----  -------  ----  "
            "------  --------  ----------  ---------\n"
            "matmul         1  120.0   54.5  compute 67 %   math 100 %     16.7     66.7   0.0  "
            "  16.7     800.0      1000.0      80.00\n"
            "copy           1  100.0   45.5  dispatch 60 %                 60.0      0.0  30.0  "
            "  10.0\n"
            "all            2  220.0  100.0  compute 36 %   math 71 %      36.4     36.4  13.6  "
            "  13.6     571.4       727.3      20.00\n"
            "\n"
            "compute and DRAM: what the work takes at its peaks; kernel: what the kernels took "
            "longer\n");
  EXPECT_EQ(bottleneck_table("op", found.by_op, found.all, 1).rows.size(), 2U);
}

TEST(BottleneckReport, ShowsStages) {
  const profiler::Bottlenecks found =
      profiler::find_bottlenecks(std::vector{run("matmul", 30, 0, 1, 1), run("add", 10, 0, 1, 1)});
  const Table table = stages_table(found.all);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].cells[0].text, "math");
  EXPECT_EQ(table.rows[0].cells[2].text, "75.0");
}

TEST(BottleneckReport, ShowsTheCriticalPathByOp) {
  profiler::Timeline timeline;
  const auto add = [&](std::string_view name, std::uint16_t sub_device, std::int64_t start,
                       std::int64_t end) {
    timeline.programs.push_back(
        {.name = timeline.names.id(name),
         .sub_device = sub_device,
         .kernel = {SimTime::microseconds(start), SimTime::microseconds(end)}});
  };
  add("matmul", 0, 0, 50);
  add("matmul", 0, 60, 100);
  add("add", 1, 0, 80);
  add("add", 2, 0, 30);
  const Table table = critical_path_table(timeline, profiler::critical_path(timeline, {}));
  ASSERT_EQ(table.rows.size(), 2U);
  std::vector<std::string> cells;
  for (const TableRow& row : table.rows) {
    for (const Cell& cell : row.cells) cells.push_back(cell.text);
  }
  EXPECT_EQ(cells, (std::vector<std::string>{"matmul", "2", "90.00", "90.0", "0", "",  //
                                             "add", "0", "0.00", "0.0", "2", "20.00"}));
  EXPECT_EQ(table.notes.at(0), "the path is 100.0 us long, 10.00 us of it between programs");
}

}  // namespace
}  // namespace howard::reports
