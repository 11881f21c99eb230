// SPDX-License-Identifier: Apache-2.0
//
// An ops CSV means the same whatever the order of its rows and columns: shuffled ones give the same
// timeline, and ones without a column the same totals, or say what is not known.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "profiler/dispatch_gaps.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"

namespace howard::profiler {
namespace {

using Cells = std::vector<std::string>;

const Cells kColumns{"OP CODE",
                     "OP TYPE",
                     "GLOBAL CALL COUNT",
                     "DEVICE ID",
                     "DEVICE ARCH",
                     "CORE COUNT",
                     "AVAILABLE WORKER CORE COUNT",
                     "HOST START TS",
                     "HOST DURATION [ns]",
                     "DEVICE FW START CYCLE",
                     "DEVICE FW END CYCLE",
                     "OP TO OP LATENCY [ns]",
                     "DEVICE FW DURATION [ns]",
                     "DEVICE KERNEL DURATION [ns]",
                     "PROGRAM CACHE HIT"};

Cells device_row(int call, int device, std::int64_t host, std::int64_t start, std::int64_t kernel,
                 std::int64_t latency, bool hit = true) {
  const std::int64_t firmware = kernel + 800;
  return {call % 3 == 0 ? "Matmul" : "Softmax",
          "tt_dnn_device",
          fmt::to_string(1024 * call),
          fmt::to_string(device),
          "wormhole_b0",
          "64",
          "64",
          fmt::to_string(host),
          "2000",
          fmt::to_string(start),
          fmt::to_string(start + firmware),
          fmt::to_string(latency),
          fmt::to_string(firmware),
          fmt::to_string(kernel),
          hit ? "True" : "False"};
}

/// Two devices, 60 ops, host calls 10 us before each op, two signposts.
std::vector<Cells> sample_rows() {
  std::vector<Cells> rows;
  std::array<std::int64_t, 2> ends{};
  for (int call = 1; call <= 60; ++call) {
    if (call == 20 || call == 40) {
      Cells signpost(kColumns.size());
      signpost[0] = call == 20 ? "forward" : "backward";
      signpost[1] = "signpost";
      signpost[7] = fmt::to_string(5'000'000 + call * 30'000 - 5'000);
      rows.push_back(signpost);
    }
    const int device = call % 2;
    const std::int64_t start = 9'000'000 + call * 30'000;
    const std::int64_t kernel = 4'000 + 137 * (call % 7);
    std::int64_t& end = ends[static_cast<std::size_t>(device)];
    rows.push_back(device_row(call, device, 5'000'000 + call * 30'000, start, kernel,
                              end == 0 ? 0 : start + 400 - end, call > 4));
    end = start + 400 + kernel;
  }
  return rows;
}

std::string csv_of(const Cells& header, const std::vector<Cells>& rows) {
  std::string text = join(header, ",") + "\n";
  for (const Cells& row : rows) text += join(row, ",") + "\n";
  return text;
}

Log read(const std::string& text) {
  TextBytes source(text);
  return read_ops_csv(source, "ops.csv");
}

/// All that a report takes from a log.
std::string everything(const Log& log) {
  std::string text;
  for (const LoggedRun& run : log.runs) {
    for (const ProgramRun& p : run.timeline.programs) {
      text += fmt::format("{} {} {} {} {} {}", run.timeline.names.name(p.name),
                          run.timeline.names.name(p.section), p.device, p.number,
                          p.kernel.start.ps(), p.kernel.end.ps());
      if (p.host_call) text += fmt::format(" {}", p.host_call->start.ps());
      text += "\n";
    }
    for (const BusyLane& lane : find_gaps(run.timeline, LaneKind::device)) {
      text += fmt::format("{} {} {}\n", lane.device, lane.busy.ps(), lane.idle.ps());
    }
  }
  return text;
}

TEST(OpsAnyOrder, ShuffledRowsGiveTheSameTimeline) {
  const std::vector<Cells> rows = sample_rows();
  const Log whole = read(csv_of(kColumns, rows));
  const std::string expected = everything(whole);
  EXPECT_NE(expected.find("Matmul backward"), std::string::npos);
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    std::vector<Cells> shuffled = rows;
    std::ranges::shuffle(shuffled, random);
    const Log log = read(csv_of(kColumns, shuffled));
    ASSERT_EQ(everything(log), expected);
    ASSERT_EQ(log.dropped.count(), 0U);
  }
}

SimTime kernels_of(const Log& log) {
  SimTime time;
  for (const LoggedRun& run : log.runs) {
    for (const ProgramRun& program : run.timeline.programs) time += program.kernel.duration();
  }
  return time;
}

TEST(OpsAnyOrder, WithoutColumnsTotalsAreTheSameOrSaidNotToBeKnown) {
  const std::vector<Cells> rows = sample_rows();
  const Log whole = read(csv_of(kColumns, rows));
  std::mt19937 random(12);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::size_t> kept(kColumns.size());
    std::iota(kept.begin(), kept.end(), 0U);
    std::ranges::shuffle(kept, random);
    kept.resize(kept.size() - random() % 6);
    const auto pick = [&](const Cells& cells) {
      Cells picked;
      for (const std::size_t column : kept) picked.push_back(cells[column]);
      return picked;
    };
    std::vector<Cells> picked;
    for (const Cells& row : rows) picked.push_back(pick(row));
    std::ranges::shuffle(picked, random);
    const Cells header = pick(kColumns);
    const auto has = [&](std::string_view name) {
      return std::ranges::find(header, name) != header.end();
    };
    std::string failure;
    Log log;
    try {
      log = read(csv_of(header, picked));
    } catch (const Error& error) {
      failure = error.what();
    }
    const std::string case_name = join(header, ", ");
    if (!has("DEVICE KERNEL DURATION [ns]")) {
      ASSERT_NE(failure.find("no column DEVICE KERNEL DURATION"), std::string::npos) << case_name;
      continue;
    }
    ASSERT_EQ(failure, "") << case_name;
    ASSERT_EQ(kernels_of(log), kernels_of(whole)) << case_name;
    const std::string notes = join(log.notes, "\n");
    const bool firmware = has("DEVICE FW END CYCLE") || has("DEVICE FW DURATION [ns]");
    ASSERT_EQ(notes.find("busy and idle times are not exact") == std::string::npos,
              firmware || !has("DEVICE FW START CYCLE"))
        << case_name << notes;
    for (const std::string_view column : {"OP CODE", "DEVICE ID", "DEVICE FW START CYCLE"}) {
      ASSERT_EQ(notes.find(column) == std::string::npos, has(column)) << case_name << notes;
    }
  }
}

TEST(OpsAnyOrder, ACounterThatWrapsIsContinuedInAnyOrder) {
  constexpr std::int64_t kModulus = std::int64_t{1} << 44;
  std::vector<Cells> rows;
  for (int call = 1; call <= 10; ++call) {
    const std::int64_t start = kModulus - 55'000 + call * 10'000;
    rows.push_back(device_row(call, 0, call * 10'000, start % kModulus, 3'000, 0));
    rows.back()[10] = fmt::to_string((start + 3'800) % kModulus);
    rows.back()[11] = "";
  }
  const std::string expected = everything(read(csv_of(kColumns, rows)));
  std::mt19937 random(13);
  for (int i = 0; i < 50; ++i) {
    std::ranges::shuffle(rows, random);
    ASSERT_EQ(everything(read(csv_of(kColumns, rows))), expected);
  }
}

TEST(OpsAnyOrder, ADurationThatCanNotBeIsLeftOutAndNamed) {
  std::vector<Cells> rows = sample_rows();
  rows[6][13] = "9000";  // the firmware ran for less
  Log log = read(csv_of(kColumns, rows));
  ASSERT_EQ(log.dropped.count(), 1U);
  EXPECT_NE(
      describe(log.dropped.reasons()[0]).find("longer than the firmware ran, first on line 8"),
      std::string::npos);

  rows = sample_rows();
  rows[6][13] = "200000";  // it would run on while three later ones ran on the same cores
  rows[6][12] = "201000";
  rows[6][10] = fmt::to_string(9'000'000 + 7 * 30'000 + 201'000);
  log = read(csv_of(kColumns, rows));
  ASSERT_EQ(log.dropped.count(), 1U);
  EXPECT_NE(describe(log.dropped.reasons()[0]).find("later programs ran on its cores"),
            std::string::npos);
  EXPECT_EQ(log.runs[0].timeline.programs.size(), 59U);

  for (Cells& row : rows) row[5] = row[5].empty() ? "" : "20";  // there are cores for both
  EXPECT_EQ(read(csv_of(kColumns, rows)).dropped.count(), 0U);
}

TEST(OpsAnyOrder, GapsHaveTheHostsCauses) {
  std::vector<Cells> rows = sample_rows();
  std::erase_if(rows, [](const Cells& row) { return row[3] == "1"; });
  const Log log = read(csv_of(kColumns, rows));
  ASSERT_TRUE(log.runs[0].devices[0].host_clock);
  EXPECT_NEAR(log.runs[0].devices[0].host_clock->rate, 1, 1e-3);
  const BusyLane lane = find_gaps(log.runs[0].timeline, LaneKind::device).at(0);
  EXPECT_EQ(lane.causes[GapCause::unknown], SimTime());
  EXPECT_EQ(lane.causes.total(), lane.idle);
  EXPECT_GE(lane.causes[GapCause::between_calls].seconds(), 0.9 * lane.idle.seconds());
}

TEST(OpsAnyOrder, TheChipIsKnownByItsClock) {
  std::vector<Cells> rows = sample_rows();
  for (Cells& row : rows) {
    row[4] = "";
    if (row[1] == "signpost") continue;
    const auto nanoseconds = parse_integer(row[12]).value_or(0);
    row[10] = fmt::to_string(parse_integer(row[9]).value_or(0) + nanoseconds * 135 / 100);
  }
  const Log log = read(csv_of(kColumns, rows));
  EXPECT_EQ(log.runs[0].devices[0].architecture, "blackhole");
  EXPECT_NE(join(log.notes, "\n").find("taken to be blackhole by its clock of 1350 MHz"),
            std::string::npos);
}

}  // namespace
}  // namespace howard::profiler
