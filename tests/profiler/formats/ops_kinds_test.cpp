// SPDX-License-Identifier: Apache-2.0
//
// Logs of every kind that tt-metal writes, made for these tests: one chip or another, several
// devices, replays of a trace, sub-devices, files of other years and of the C++ report. Whatever
// the order of a file's rows and columns, and whichever columns are missing, its totals are those
// of the whole file, or the log says what is not known.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
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

/// Holds a file as a table; a row has cells by column.
struct Sheet {
  std::string kind;
  std::vector<std::string> columns;
  std::vector<std::map<std::string, std::string>> rows;

  std::string text(const std::vector<std::size_t>& row_order,
                   const std::vector<std::size_t>& kept_columns) const {
    std::string text;
    for (const std::size_t column : kept_columns) text += columns[column] + ",";
    text.back() = '\n';
    for (const std::size_t row : row_order) {
      for (const std::size_t column : kept_columns) {
        const auto cell = rows[row].find(columns[column]);
        if (cell != rows[row].end()) text += cell->second;
        text += ',';
      }
      text.back() = '\n';
    }
    return text;
  }
};

std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

const std::vector<std::string> kCommon{"OP TYPE",
                                       "GLOBAL CALL COUNT",
                                       "DEVICE ID",
                                       "DEVICE FW START CYCLE",
                                       "DEVICE FW END CYCLE",
                                       "OP TO OP LATENCY [ns]",
                                       "DEVICE FW DURATION [ns]",
                                       "DEVICE KERNEL DURATION [ns]",
                                       "CORE COUNT",
                                       "ATTRIBUTES"};

std::vector<std::string> with(std::vector<std::string> columns,
                              const std::vector<std::string>& more) {
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

const std::vector<std::string> kTensors{"INPUT_0_W_PAD[LOGICAL]", "INPUT_0_Z_PAD[LOGICAL]",
                                        "INPUT_0_Y_PAD[LOGICAL]", "INPUT_0_X_PAD[LOGICAL]",
                                        "INPUT_0_LAYOUT",         "INPUT_0_DATATYPE",
                                        "INPUT_0_MEMORY"};
const std::vector<std::string> kHostTimes{"HOST START TS", "HOST DURATION [ns]"};
const std::vector<std::string> kChip{"OP CODE", "DEVICE ARCH", "AVAILABLE WORKER CORE COUNT"};

/// Makes the rows of a device, one program after the other.
class DeviceRows {
 public:
  /// The clock is in cycles of 1/20 ns, so that both chips' have whole cycles.
  DeviceRows(Sheet& sheet, int device, std::int64_t megahertz, std::int64_t first)
      : sheet_(sheet), device_(device), megahertz_(megahertz), now_(first) {}

  std::map<std::string, std::string>& add(const std::string& name, int call, std::int64_t idle,
                                          std::int64_t kernel) {
    const std::int64_t start = now_ + (first_ ? 0 : idle);
    const std::int64_t firmware = kernel + 800;
    auto& row = sheet_.rows.emplace_back();
    row = {{"OP CODE", name},
           {"OP NAME", name},
           {"OP TYPE", "tt_dnn_device"},
           {"GLOBAL CALL COUNT", fmt::to_string(1024 * call + device_)},
           {"DEVICE ID", fmt::to_string(device_)},
           {"DEVICE ARCH", megahertz_ == 1350 ? "blackhole" : "wormhole_b0"},
           {"AVAILABLE WORKER CORE COUNT", megahertz_ == 1350 ? "130" : "64"},
           {"CORE COUNT", "32"},
           {"ATTRIBUTES", "{}"},
           {"DEVICE FW START CYCLE", fmt::to_string(cycles(start - 400))},
           {"DEVICE FW END CYCLE", fmt::to_string(cycles(start + kernel + 400))},
           {"DEVICE FW DURATION [ns]", fmt::to_string(firmware)},
           {"DEVICE KERNEL DURATION [ns]", fmt::to_string(kernel)},
           {"OP TO OP LATENCY [ns]", fmt::to_string(first_ ? 0 : idle)},
           {"HOST START TS", fmt::to_string(host_ + start - 3'000)},
           {"HOST DURATION [ns]", "2000"},
           {"INPUT_0_W_PAD[LOGICAL]", "1[1]"},
           {"INPUT_0_Z_PAD[LOGICAL]", "1[1]"},
           {"INPUT_0_Y_PAD[LOGICAL]", "32[19]"},
           {"INPUT_0_X_PAD[LOGICAL]", "64[64]"},
           {"INPUT_0_W", "1"},
           {"INPUT_0_Z", "1"},
           {"INPUT_0_Y", "32"},
           {"INPUT_0_X", "64"},
           {"INPUT_0_LAYOUT", "TILE"},
           {"INPUT_0_DATATYPE", "BFLOAT16"},
           {"INPUT_0_MEMORY", fmt::format("DEV_{}_DRAM_INTERLEAVED", device_)}};
    now_ = start + kernel;
    first_ = false;
    return row;
  }

 private:
  std::int64_t cycles(std::int64_t nanoseconds) const { return nanoseconds * megahertz_ / 1'000; }

  Sheet& sheet_;
  int device_;
  std::int64_t megahertz_;
  std::int64_t now_;
  std::int64_t host_ = 700'000'000'000;  ///< The host's clock is ahead by so much.
  bool first_ = true;
};

/// Times are multiples of 20 ns, which are whole cycles at 1350 MHz too.
void add_ops(DeviceRows& device, int ops) {
  for (int call = 1; call <= ops; ++call) {
    device.add(call % 3 == 0 ? "Matmul" : "Softmax", call, 3'000 + 500 * (call % 5),
               4'000 + 140 * (call % 7));
  }
}

Sheet one_chip(const std::string& kind, std::int64_t megahertz) {
  Sheet sheet{kind, with(with(with(kCommon, kChip), kHostTimes), kTensors), {}};
  DeviceRows device(sheet, 0, megahertz, 50'000'000'000);
  add_ops(device, 40);
  sheet.rows.push_back(
      {{"OP CODE", "to_torch"}, {"OP TYPE", "tt_dnn_cpu"}, {"HOST DURATION [ns]", "70000"}});
  return sheet;
}

Sheet several_devices() {
  Sheet sheet{"eight devices", with(with(with(kCommon, kChip), kHostTimes), kTensors), {}};
  for (int id = 0; id < 8; ++id) {
    DeviceRows device(sheet, id, 1000, 20'000'000'000 + id * std::int64_t{777'000'000});
    for (int call = 1; call <= 8; ++call) {
      const bool collective = call % 4 == 0;
      device.add(collective ? "AllGatherAsync" : "Matmul", call, 4'000,
                 collective ? 20'000 - 1'000 * id : 8'000 + 100 * id);
    }
  }
  return sheet;
}

/// A program of a replay repeats the call count and the host's times of its capture.
Sheet replays() {
  Sheet sheet{"replays",
              with(with(with(kCommon, kChip), kHostTimes),
                   {"METAL TRACE ID", "METAL TRACE REPLAY SESSION ID"}),
              {}};
  DeviceRows device(sheet, 0, 1000, 30'000'000'000);
  std::map<int, std::string> captured;
  for (int call = 1; call <= 6; ++call) {
    captured[call] = device.add("Matmul", call, 9'000, 5'000)["HOST START TS"];
  }
  for (int replay = 1; replay <= 4; ++replay) {
    for (int call = 1; call <= 6; ++call) {
      auto& row = device.add("Matmul", call, 700, 5'000);
      row["HOST START TS"] = captured[call];
      row["METAL TRACE ID"] = "1";
      row["METAL TRACE REPLAY SESSION ID"] = fmt::to_string(replay);
    }
  }
  return sheet;
}

/// Two sub-devices run side by side: the latencies of one chain are those of both.
Sheet sub_devices() {
  Sheet sheet{"sub-devices", with(with(with(kCommon, kChip), kHostTimes), {"SUB DEVICE ID"}), {}};
  for (const int id : {0, 1}) {
    DeviceRows device(sheet, 0, 1000, 40'000'000'000 + id * 2'000);
    for (int call = 1; call <= 12; ++call) {
      auto& row = device.add(id == 0 ? "Matmul" : "Softmax", 2 * call + id, 3'000, 7'000);
      row["SUB DEVICE ID"] = fmt::to_string(id);
      row["OP TO OP LATENCY [ns]"] = "";
    }
  }
  return sheet;
}

/// A file of 2024 names fewer things, and has signposts.
Sheet of_2024() {
  Sheet sheet{"2024",
              with(with(with(kCommon, {"OP CODE"}), kHostTimes),
                   {"INPUT_0_W", "INPUT_0_Z", "INPUT_0_Y", "INPUT_0_X", "INPUT_0_LAYOUT",
                    "INPUT_0_DATATYPE", "INPUT_0_MEMORY"}),
              {}};
  DeviceRows device(sheet, 0, 1000, 60'000'000'000);
  add_ops(device, 30);
  return sheet;
}

Sheet cpp_report() {
  Sheet sheet{"C++ report",
              {"GLOBAL CALL COUNT", "DEVICE ID", "OP NAME", "DEVICE ARCH", "CORE COUNT",
               "AVAILABLE WORKER CORE COUNT", "DEVICE FW START CYCLE", "DEVICE FW END CYCLE",
               "OP TO OP LATENCY [ns]", "DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]"},
              {}};
  DeviceRows device(sheet, 3, 1350, 70'000'000'000);
  add_ops(device, 30);
  return sheet;
}

std::vector<Sheet> all_kinds() {
  return {one_chip("Wormhole", 1000),
          one_chip("Blackhole", 1350),
          several_devices(),
          replays(),
          sub_devices(),
          of_2024(),
          cpp_report()};
}

struct Totals {
  std::uint64_t programs = 0;
  SimTime kernels;
  SimTime busy, idle;
  SimTime host;     ///< What the host did before calls and in them.
  SimTime unknown;  ///< Idle time without a cause.

  friend bool operator==(const Totals&, const Totals&) = default;
};

Totals totals_of(const Log& log) {
  Totals totals;
  for (const LoggedRun& run : log.runs) {
    for (const ProgramRun& program : run.timeline.programs) {
      ++totals.programs;
      totals.kernels += program.kernel.duration();
    }
    if (!run.knows_starts) continue;
    for (const BusyLane& lane : find_gaps(run.timeline, LaneKind::device)) {
      totals.busy += lane.busy;
      totals.idle += lane.idle;
      totals.host += lane.causes[GapCause::between_calls] + lane.causes[GapCause::host_issuing];
      totals.unknown += lane.causes[GapCause::unknown];
    }
  }
  return totals;
}

Log read_sheet(const std::string& text) {
  TextBytes source(text);
  return read_ops_csv(source, "ops.csv", {.tensors = Tensors::read});
}

TEST(OpsKinds, ShuffledRowsAndColumnsGiveTheSameTotals) {
  for (const Sheet& sheet : all_kinds()) {
    const Log whole =
        read_sheet(sheet.text(in_order(sheet.rows.size()), in_order(sheet.columns.size())));
    const Totals expected = totals_of(whole);
    ASSERT_EQ(whole.dropped.count(), 0U) << sheet.kind;
    ASSERT_GT(expected.programs, 20U) << sheet.kind;
    ASSERT_GT(expected.busy, SimTime()) << sheet.kind;
    std::mt19937 random(21);
    for (int i = 0; i < 200; ++i) {
      std::vector<std::size_t> rows = in_order(sheet.rows.size());
      std::vector<std::size_t> columns = in_order(sheet.columns.size());
      std::ranges::shuffle(rows, random);
      std::ranges::shuffle(columns, random);
      const Log log = read_sheet(sheet.text(rows, columns));
      ASSERT_TRUE(totals_of(log) == expected) << sheet.kind;
      ASSERT_EQ(log.notes, whole.notes) << sheet.kind;
      ASSERT_EQ(log.calls.size(), whole.calls.size()) << sheet.kind;
    }
  }
}

TEST(OpsKinds, WithoutSomeColumnsTotalsAreTheSameOrSaidNotToBeKnown) {
  for (const Sheet& sheet : all_kinds()) {
    const Log whole =
        read_sheet(sheet.text(in_order(sheet.rows.size()), in_order(sheet.columns.size())));
    const Totals expected = totals_of(whole);
    std::mt19937 random(22);
    for (int i = 0; i < 200; ++i) {
      std::vector<std::size_t> rows = in_order(sheet.rows.size());
      std::vector<std::size_t> columns = in_order(sheet.columns.size());
      std::ranges::shuffle(rows, random);
      std::ranges::shuffle(columns, random);
      columns.resize(columns.size() - 1 - random() % 4);
      std::string left_out = sheet.kind + " without";
      for (std::size_t k = 0; k < sheet.columns.size(); ++k) {
        if (std::ranges::find(columns, k) == columns.end()) left_out += " " + sheet.columns[k];
      }
      Log log;
      try {
        log = read_sheet(sheet.text(rows, columns));
      } catch (const Error& error) {
        ASSERT_NE(left_out.find("DEVICE KERNEL DURATION"), std::string::npos) << left_out;
        continue;
      }
      const Totals totals = totals_of(log);
      const std::string said = left_out + "\n" + join(log.notes, "\n");
      const bool says_more =
          log.dropped.count() > 0 || std::ranges::any_of(log.notes, [&](const std::string& note) {
            return std::ranges::find(whole.notes, note) == whole.notes.end();
          });
      if (log.dropped.count() == 0) {
        ASSERT_EQ(totals.kernels, expected.kernels) << said;
      }
      // A call count that comes again is then taken for another run's: it is no replay.
      if (left_out.find("METAL TRACE REPLAY") != std::string::npos) continue;
      ASSERT_TRUE(says_more || (totals.busy == expected.busy && totals.idle == expected.idle))
          << said;
      ASSERT_TRUE(says_more || totals.host == expected.host || totals.unknown > expected.unknown)
          << said << " host " << totals.host.ps() << " not " << expected.host.ps();
    }
  }
}

}  // namespace
}  // namespace howard::profiler
