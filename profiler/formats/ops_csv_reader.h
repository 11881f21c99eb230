// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "profiler/formats/csv_reader.h"
#include "profiler/formats/log.h"

namespace howard::profiler {

/// A tensor of an op, as the cells say it. Valid as long as the row.
struct TensorCells {
  /// W, Z, Y, X: "32[19]" (padded, then logical) from version 2 on, "32" before.
  std::array<std::string_view, 4> dimensions;
  std::string_view layout;    ///< "TILE", "ROW_MAJOR".
  std::string_view datatype;  ///< "BFLOAT16".
  std::string_view memory;    ///< "DEV_0_DRAM_INTERLEAVED".
};

/// The cells of a row that are of use, read. A cell that is empty, or whose column the file does
/// not have, is absent. Texts are valid until the next row.
struct OpRow {
  std::uint64_t line = 0;
  std::string_view name;  ///< OP CODE; of a signpost its message.
  std::string_view type;  ///< "tt_dnn_device", "tt_dnn_cpu", "python_fallback", "signpost".
  std::uint16_t device = 0;
  std::string_view architecture;
  std::string_view attributes;  ///< "{'transpose_a': 'false'; ...}".
  std::string_view fidelity;
  std::optional<std::int64_t> call;          ///< GLOBAL CALL COUNT.
  std::optional<std::int64_t> cores;         ///< CORE COUNT.
  std::optional<std::int64_t> worker_cores;  ///< AVAILABLE WORKER CORE COUNT.
  std::optional<SimTime> host_time;
  std::optional<std::int64_t> firmware_start, firmware_end;  ///< Cycles.
  std::optional<SimTime> firmware_time, kernel_time;
  std::optional<SimTime> start_skew;  ///< From the first core's start to the last one's.
  /// To the device's previous kernel; negative where they overlap.
  std::optional<SimTime> op_to_op;
  std::optional<std::int64_t> trace, replay;
  std::vector<TensorCells> inputs, outputs;  ///< Those with an X dimension.
};

/// The rows of an `ops_perf_results` CSV of any version: columns are found by their names, in any
/// order, and those that are not known are ignored. Memory does not grow with the file.
class OpsCsvReader {
 public:
  /// Error when the first record is no header, or a column is missing without which there is
  /// nothing to learn: OP CODE, DEVICE FW START CYCLE, DEVICE KERNEL DURATION [ns]. `name` is the
  /// file's, for messages. `source` and `dropped` must outlive the reader.
  OpsCsvReader(ByteSource& source, std::string_view name, DroppedRows& dropped);

  /// Goes to the next row that can be read; the others are counted. False at the end.
  bool next();
  const OpRow& row() const { return row_; }
  /// True when the header was repeated before this row: another file was appended.
  bool starts_file() const { return starts_file_; }
  /// True when the file ended within a row.
  bool is_cut_off() const { return cut_off_; }

 private:
  static constexpr std::size_t kAbsent = ~std::size_t{0};
  /// Where a tensor's seven cells are; kAbsent for those the file does not have.
  using TensorColumns = std::array<std::size_t, 7>;

  void find_columns(std::string_view name);
  bool is_header() const;
  bool read_row();
  std::string_view cell(std::size_t column) const;
  std::optional<std::int64_t> integer(std::size_t which, bool& good);
  std::optional<SimTime> nanoseconds(std::size_t which, bool& good);
  void reject(std::size_t which, std::string_view problem);
  void read_tensors(const std::vector<TensorColumns>& columns, std::vector<TensorCells>& tensors);

  CsvReader csv_;
  DroppedRows& dropped_;
  std::vector<std::size_t> columns_;  ///< By their place in the list of known columns.
  std::vector<TensorColumns> input_columns_, output_columns_;
  std::size_t width_ = 0;
  OpRow row_;
  bool starts_file_ = false;
  bool cut_off_ = false;
};

/// The whole file as runs. Signposts begin sections, ops on the host are summed, a device's clock
/// is found from its cycles and nanoseconds. The file has no kernel's start: kernels are placed
/// within their firmware's span so that the distances between them are those of the op-to-op
/// column. Wrapped 44-bit cycle counters are continued. Error as for `OpsCsvReader`.
Log read_ops_csv(ByteSource& source, std::string_view name);

}  // namespace howard::profiler
