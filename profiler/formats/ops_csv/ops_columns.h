// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sim_time.h"
#include "profiler/formats/csv/csv_fields.h"

namespace howard::profiler {

/// Holds a tensor of an op as the cells state it. It is valid as long as the row.
struct TensorCells {
  /// W, Z, Y, X: "32[19]" (padded, then logical) from version 2 on, "32" before.
  std::array<std::string_view, 4> dimensions;
  std::string_view layout;    ///< "TILE", "ROW_MAJOR".
  std::string_view datatype;  ///< "BFLOAT16".
  std::string_view memory;    ///< "DEV_0_DRAM_INTERLEAVED".
};

/// Counters that a log may have of each program, in the columns of these names.
inline constexpr std::array<std::string_view, 9> kCounters{"NOC UTIL",
                                                           "MULTICAST NOC UTIL",
                                                           "DRAM BW UTIL",
                                                           "ETH BW UTIL",
                                                           "NPE CONG IMPACT",
                                                           "Avg FPU util on full grid",
                                                           "Avg SFPU util on full grid",
                                                           "Avg Math util on full grid",
                                                           "PM FPU UTIL"};

/// Holds what a counter said of a program.
struct CountedShare {
  std::size_t counter = 0;      ///< Into kCounters.
  std::int64_t hundredths = 0;  ///< Of a percent.
};

/// Holds the cells of a row that are of use. A cell is absent if it is empty or the file does not
/// have its column.
struct OpRow {
  std::uint64_t line = 0;
  /// True if the header was repeated before it, because another file was appended.
  bool starts_file = false;
  std::string_view name;  ///< OP CODE; for a signpost, its message.
  std::string_view type;  ///< "tt_dnn_device", "tt_dnn_cpu", "python_fallback", "signpost".
  std::uint16_t device = 0;
  std::uint16_t sub_device = 0;
  std::string_view architecture;
  std::string_view attributes;  ///< "{'transpose_a': 'false'; ...}".
  std::string_view fidelity;
  /// COMPUTE KERNEL SOURCE, or PATH before 2025; empty unless tensors are asked for.
  std::string_view kernels;
  std::optional<std::int64_t> call;          ///< GLOBAL CALL COUNT.
  std::optional<std::int64_t> cores;         ///< CORE COUNT.
  std::optional<std::int64_t> worker_cores;  ///< AVAILABLE WORKER CORE COUNT.
  std::optional<std::int64_t> host_start;    ///< Nanoseconds of a clock of the host's own.
  std::optional<SimTime> host_time;          ///< The time that its call took.
  std::optional<std::int64_t> ideal;         ///< PM IDEAL: nanoseconds by the performance model.
  /// PM COMPUTE and PM BANDWIDTH: what the model has for arithmetic, and for moving operands.
  std::optional<std::int64_t> ideal_compute, ideal_bandwidth;
  bool compiled = false;  ///< PROGRAM CACHE HIT says that it was none.
  std::optional<std::int64_t> firmware_start, firmware_end;  ///< Cycles.
  std::optional<SimTime> firmware_time, kernel_time;
  std::optional<SimTime> start_skew;  ///< The time from the first core's start to the last one's.
  /// The time to the device's previous kernel; negative if they overlap.
  std::optional<SimTime> op_to_op;
  std::optional<std::int64_t> trace, replay;
  /// The tensors with an X dimension; empty unless they are asked for.
  std::vector<TensorCells> inputs, outputs;
  /// A number for each of kCounters that the file has, in the order of its columns; empty unless
  /// tensors are asked for.
  std::vector<CountedShare> counters;
};

/// Says whether the cells of tensors are read, which are a third of the cells that are of use.
enum class Tensors : std::uint8_t { skipped, read };

/// Holds what other files tell of calls, by GLOBAL CALL COUNT: names, tensors and the host's times.
struct ToldCalls {
  std::map<std::int64_t, OpRow> rows;
  std::deque<std::string> texts;  ///< Never moves a string: the rows point there.

  /// Writes into a row what is told of its call.
  void tell(Tensors tensors, OpRow& row) const;
};

/// Says which columns a file has, of those without which less is known.
struct OpsFileKnows {
  bool names = true;         ///< OP CODE or OP NAME.
  bool devices = true;       ///< DEVICE ID.
  bool starts = true;        ///< DEVICE FW START CYCLE.
  bool firmware = true;      ///< True if a column tells how long the firmware ran.
  bool latencies = true;     ///< OP TO OP LATENCY [ns].
  bool sub_devices = false;  ///< SUB DEVICE ID.
};

/// Holds a record of an `ops_perf_results` file.
struct OpsRecord {
  enum class Kind : std::uint8_t { row, header, dropped };
  Kind kind{};
  OpRow row;                    ///< For other kinds only its line has a meaning.
  bool cut_off = false;         ///< The file ends within it, which is why it is dropped.
  std::string reason, example;  ///< The reason why it is dropped, with an example.
};

/// Finds the cells of an `ops_perf_results` file of any version. It finds columns by their names,
/// in any order, and ignores those that it does not know.
class OpsColumns {
 public:
  /// Reads the names from `header`, the first record, on `line`. Throws Error if it lacks a column
  /// without which there is nothing to learn: OP CODE, DEVICE FW START CYCLE, DEVICE KERNEL
  /// DURATION [ns]. `name` is the file's name, for messages. If there are no fields, the file is
  /// empty.
  OpsColumns(std::span<const std::string_view> header, std::optional<std::uint64_t> line,
             std::string_view name);

  /// Returns the numbers of the fields of a record that are looked at.
  std::vector<std::size_t> wanted(Tensors tensors) const;

  OpsFileKnows knows() const;

  /// Reads what `record`, which is no empty line, and its `fields` say; a bad record has none.
  void read(const CsvRecord& record, const CsvFields& fields, Tensors tensors,
            OpsRecord& out) const;

 private:
  static constexpr std::size_t kAbsent = ~std::size_t{0};
  /// Says where the seven cells of a tensor are; kAbsent for those that the file does not have.
  using TensorColumns = std::array<std::size_t, 7>;
  class Cells;

  std::vector<std::size_t> columns_;  ///< Their order is that of the list of known columns.
  bool counts_kernels_ = false;       ///< The cycles are those of kernels, not of the firmware.
  std::vector<TensorColumns> input_columns_, output_columns_;
  std::vector<std::pair<std::size_t, std::size_t>> counter_columns_;  ///< Counters and columns.
  std::size_t kernels_column_ = 0;
  std::size_t width_ = 0;
};

}  // namespace howard::profiler
