// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_csv/ops_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "profiler/formats/csv/decimal.h"
#include "profiler/formats/device_log/cycle_counter.h"

namespace howard::profiler {
namespace {

/// These columns are read, besides those of tensors. The enumerators index their names.
enum Column : std::size_t {
  kOpCode,
  kOpType,
  kCall,
  kDevice,
  kArchitecture,
  kAttributes,
  kFidelity,
  kCores,
  kWorkerCores,
  kHostTime,
  kFirmwareStart,
  kFirmwareEnd,
  kOpToOp,
  kFirmwareTime,
  kKernelTime,
  kStartSkew,
  kTrace,
  kReplay,
  kSubDevice,
  kHostStart,
  kCacheHit,
  kIdeal,
  kIdealCompute,
  kIdealBandwidth,
  kExecution,
  kLastColumn,
};
constexpr std::array<std::string_view, kLastColumn> kNames = {
    "OP CODE",
    "OP TYPE",
    "GLOBAL CALL COUNT",
    "DEVICE ID",
    "DEVICE ARCH",
    "ATTRIBUTES",
    "MATH FIDELITY",
    "CORE COUNT",
    "AVAILABLE WORKER CORE COUNT",
    "HOST DURATION [ns]",
    "DEVICE FW START CYCLE",
    "DEVICE FW END CYCLE",
    "OP TO OP LATENCY [ns]",
    "DEVICE FW DURATION [ns]",
    "DEVICE KERNEL DURATION [ns]",
    "DEVICE KERNEL FIRST TO LAST START [ns]",
    "METAL TRACE ID",
    "METAL TRACE REPLAY SESSION ID",
    "SUB DEVICE ID",
    "HOST START TS",
    "PROGRAM CACHE HIT",
    "PM IDEAL [ns]",
    "PM COMPUTE [ns]",
    "PM BANDWIDTH [ns]",
    "EXECUTION",
};
/// These are the names that tt-metal's C++ report, its streaming profiler, and files of other years
/// give a column.
constexpr std::string_view kKernelStart = "DEVICE KERNEL START CYCLE";
constexpr std::array<std::pair<Column, std::string_view>, 4> kOtherNames = {
    std::pair{kOpCode, std::string_view("OP NAME")},
    std::pair{kSubDevice, std::string_view("SUB-DEVICE ID")},
    std::pair{kFirmwareStart, kKernelStart},
    std::pair{kFirmwareEnd, std::string_view("DEVICE KERNEL END CYCLE")}};

/// These are the cells of a tensor. The first four, its dimensions, have one form from version 2 on
/// and another before.
constexpr std::array<std::string_view, 7> kTensorCells = {
    "_W_PAD[LOGICAL]", "_Z_PAD[LOGICAL]", "_Y_PAD[LOGICAL]", "_X_PAD[LOGICAL]",
    "_LAYOUT",         "_DATATYPE",       "_MEMORY"};
constexpr std::array<std::string_view, 4> kOldDimensions = {"_W", "_Z", "_Y", "_X"};
constexpr std::size_t kX = 3;
constexpr int kMostTensors = 32;

/// Parses an integer, also in the form of a spreadsheet or a data frame: "1024.0".
std::optional<std::int64_t> parse_count(std::string_view text) {
  const auto integer = parse_integer(text);
  return integer ? integer : parse_scaled(text, 0);
}

/// Returns whether a number has a part behind its point: "64.5".
bool has_fraction(std::string_view text) {
  const std::size_t point = text.find('.');
  return point != std::string_view::npos &&
         text.find_first_not_of('0', point + 1) != std::string_view::npos;
}

}  // namespace

void ToldCalls::tell(Tensors tensors, OpRow& row) const {
  const auto found = rows.find(row.call.value_or(0));
  if (row.type.empty()) row.type = "tt_dnn_device";
  if (found == rows.end()) return;
  const OpRow& told = found->second;
  row.host_start = told.host_start;
  row.host_time = told.host_time;
  if (told.name.empty()) return;
  row.name = told.name;
  row.attributes = told.attributes;
  row.fidelity = told.fidelity;
  if (tensors == Tensors::skipped) return;
  row.inputs = told.inputs;
  row.outputs = told.outputs;
}

OpsColumns::OpsColumns(std::span<const std::string_view> header, std::optional<std::uint64_t> line,
                       std::string_view name)
    : width_(header.size()) {
  const auto find = [&](std::string_view wanted) {
    const auto found = std::ranges::find(header, wanted, trimmed);
    return found != header.end() ? static_cast<std::size_t>(found - header.begin()) : kAbsent;
  };
  for (const std::string_view column : kNames) columns_.push_back(find(column));
  for (const auto& [column, other] : kOtherNames) {
    if (columns_[column] == kAbsent) columns_[column] = find(other);
  }
  // The streaming profiler counts the cycles of the kernel itself.
  counts_kernels_ =
      columns_[kFirmwareStart] != kAbsent && columns_[kFirmwareStart] == find(kKernelStart);
  if (counts_kernels_) columns_[kFirmwareTime] = columns_[kKernelTime];
  if (columns_[kKernelTime] == kAbsent) {
    throw Error({.attempted = fmt::format("read {} as ops_perf_results", name),
                 .value = !line
                              ? "the file is empty"
                              : fmt::format("line {} has no column {}", *line, kNames[kKernelTime]),
                 .accepted = "a header with at least DEVICE KERNEL DURATION [ns]; OP CODE and "
                             "DEVICE FW START CYCLE beside it tell what ran when"});
  }
  const auto find_tensors = [&](std::string_view kind) {
    std::vector<TensorColumns> tensors;
    for (int i = 0; i < kMostTensors; ++i) {
      TensorColumns tensor{};
      for (std::size_t k = 0; k < tensor.size(); ++k) {
        tensor[k] = find(fmt::format("{}_{}{}", kind, i, kTensorCells[k]));
        if (tensor[k] == kAbsent && k < kOldDimensions.size()) {
          tensor[k] = find(fmt::format("{}_{}{}", kind, i, kOldDimensions[k]));
        }
      }
      if (tensor[kX] == kAbsent) break;
      tensors.push_back(tensor);
    }
    return tensors;
  };
  input_columns_ = find_tensors("INPUT");
  output_columns_ = find_tensors("OUTPUT");
  kernels_column_ = find("COMPUTE KERNEL SOURCE");
  if (kernels_column_ == kAbsent) kernels_column_ = find("COMPUTE KERNEL PATH");
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    const std::size_t column = find(fmt::format("{} (%)", kCounters.at(i)));
    if (column != kAbsent) counter_columns_.emplace_back(i, column);
  }
}

std::vector<std::size_t> OpsColumns::wanted(Tensors tensors) const {
  std::vector<std::size_t> wanted;
  const auto want = [&](std::span<const std::size_t> columns) {
    std::ranges::copy_if(columns, std::back_inserter(wanted),
                         [](std::size_t column) { return column != kAbsent; });
  };
  want(columns_);
  if (tensors == Tensors::read) {
    for (const TensorColumns& columns : input_columns_) want(columns);
    for (const TensorColumns& columns : output_columns_) want(columns);
    for (const auto& [counter, column] : counter_columns_) wanted.push_back(column);
    if (kernels_column_ != kAbsent) wanted.push_back(kernels_column_);
  }
  return wanted;
}

OpsFileKnows OpsColumns::knows() const {
  const auto has = [&](Column column) { return columns_[column] != kAbsent; };
  return {.names = has(kOpCode),
          .devices = has(kDevice),
          .starts = has(kFirmwareStart),
          .firmware = has(kFirmwareEnd) || has(kFirmwareTime),
          .latencies = has(kOpToOp) || counts_kernels_,
          .sub_devices = has(kSubDevice)};
}

/// Holds the cells of one record on their way into a row.
class OpsColumns::Cells {
 public:
  Cells(const OpsColumns& columns, const CsvFields& fields, OpsRecord& out)
      : columns_(columns), fields_(fields), out_(out) {}

  bool is_header() const { return text(kKernelTime) == kNames[kKernelTime]; }

  /// Returns false if a cell is not what it must be; the record is then dropped.
  bool read_row(Tensors tensors) {
    OpRow& row = out_.row;
    row.name = text(kOpCode);
    row.type = text(kOpType);
    row.architecture = text(kArchitecture);
    row.attributes = text(kAttributes);
    row.fidelity = text(kFidelity);
    read(kDevice, row.device, "is no device's number");
    read(kSubDevice, row.sub_device, "is no sub-device's number");
    read(kCall, row.call);
    read_cores(kCores, row.cores);
    read_cores(kWorkerCores, row.worker_cores);
    read_if_good(kHostStart, row.host_start);
    read(kHostTime, row.host_time);
    const std::string_view hit = text(kCacheHit);
    row.compiled = hit == "False" || hit == "false" || hit == "0";
    read_if_good(kIdeal, row.ideal);
    read_if_good(kIdealCompute, row.ideal_compute);
    read_if_good(kIdealBandwidth, row.ideal_bandwidth);
    read(kFirmwareStart, row.firmware_start);
    read(kFirmwareEnd, row.firmware_end);
    read(kFirmwareTime, row.firmware_time);
    read(kKernelTime, row.kernel_time);
    read(kStartSkew, row.start_skew);
    read(kOpToOp, row.op_to_op);
    read(kTrace, row.trace);
    read(kReplay, row.replay);
    std::optional<std::int64_t> execution;
    read_if_good(kExecution, execution);
    if (!row.replay && execution > 1) row.replay = execution;
    if (tensors == Tensors::read) {
      read_tensors(columns_.input_columns_, row.inputs);
      read_tensors(columns_.output_columns_, row.outputs);
      read_counters(row.counters);
      row.kernels = trimmed(cell(columns_.kernels_column_));
    }
    return good_;
  }

 private:
  std::string_view cell(std::size_t column) const {
    return column == kAbsent ? std::string_view{} : fields_[column];
  }
  std::string_view text(Column which) const { return trimmed(cell(columns_.columns_[which])); }

  /// The first rejected cell is the reason for dropping the record.
  void reject(Column which, std::string_view problem) {
    if (!good_) return;
    good_ = false;
    const std::size_t column = columns_.columns_[which];
    out_.reason = fmt::format("{} (column {}) {}", kNames[which], column + 1, problem);
    out_.example = cell(column);
  }

  // The result is written where it belongs and not returned, for the reason that `parse_digits`
  // gives.
  void read(Column which, std::optional<std::int64_t>& integer) {
    integer.reset();
    const std::string_view text = this->text(which);
    if (text.empty()) return;
    if (std::int64_t digits = 0; parse_digits(text, digits)) {
      integer = digits;
    } else if (const auto value = parse_count(text)) {
      integer = *value;
    } else {
      reject(which, "is not an integer");
    }
  }

  void read_cores(Column which, std::optional<std::int64_t>& cores) {
    constexpr std::int64_t kMostCores = 64 * 64;  // the largest core grid that a chip can be told
    read(which, cores);
    if (cores && (*cores < 0 || *cores > kMostCores || has_fraction(text(which)))) {
      reject(which, fmt::format("is not a number of cores, 0 to {}", kMostCores));
    }
  }

  /// Reads a number that a row is worth having without.
  void read_if_good(Column which, std::optional<std::int64_t>& integer) const {
    integer.reset();
    const std::string_view text = this->text(which);
    if (text.empty()) return;
    if (std::int64_t digits = 0; parse_digits(text, digits)) {
      integer = digits;
    } else {
      integer = parse_count(text);
    }
  }

  /// Reads a number of 16 bits; 0 for an empty cell.
  void read(Column which, std::uint16_t& number, std::string_view problem) {
    std::optional<std::int64_t> integer;
    read(which, integer);
    if (integer && (*integer < 0 || *integer > std::numeric_limits<std::uint16_t>::max())) {
      reject(which, problem);
    }
    number = static_cast<std::uint16_t>(integer.value_or(0));
  }

  /// Reads nanoseconds.
  void read(Column which, std::optional<SimTime>& time) {
    time.reset();
    const std::string_view text = this->text(which);
    if (text.empty()) return;
    if (std::int64_t digits = 0;
        parse_digits(text, digits) && digits <= kLongestLoggedTime.ps() / 1000) {
      time = SimTime::picoseconds(digits * 1000);
      return;
    }
    const auto picoseconds = parse_scaled(text, 3);
    if (!picoseconds) {
      reject(which, "is not a number");
    } else if (*picoseconds < 0 && which != kOpToOp) {
      reject(which, "is negative");
    } else if (SimTime::picoseconds(std::abs(*picoseconds)) > kLongestLoggedTime) {
      reject(which, "is over a day");
    } else {
      time = SimTime::picoseconds(*picoseconds);
    }
  }

  void read_tensors(const std::vector<TensorColumns>& columns,
                    std::vector<TensorCells>& tensors) const {
    tensors.clear();
    for (const TensorColumns& at : columns) {
      if (cell(at[kX]).empty()) continue;
      tensors.push_back({.dimensions = {cell(at[0]), cell(at[1]), cell(at[2]), cell(at[3])},
                         .layout = cell(at[4]),
                         .datatype = cell(at[5]),
                         .memory = cell(at[6])});
    }
  }

  /// Reads percents. A cell that has none is as good as empty.
  void read_counters(std::vector<CountedShare>& counters) const {
    counters.clear();
    constexpr std::int64_t kMost = 1'000'000;  // 10,000 %: a counter is no clock
    for (const auto& [counter, column] : columns_.counter_columns_) {
      const std::string_view text = trimmed(cell(column));
      if (text.empty()) continue;
      const auto hundredths = parse_scaled(text, 2);
      if (hundredths && *hundredths >= 0 && *hundredths <= kMost) {
        counters.push_back({counter, *hundredths});
      }
    }
  }

  const OpsColumns& columns_;
  const CsvFields& fields_;
  OpsRecord& out_;
  bool good_ = true;
};

void OpsColumns::read(const CsvRecord& record, const CsvFields& fields, Tensors tensors,
                      OpsRecord& out) const {
  out.kind = OpsRecord::Kind::dropped;
  out.row.line = record.line;
  out.row.name = {};
  out.cut_off = false;
  Cells cells(*this, fields, out);
  if (record.defect) {
    out.reason = *record.defect;
    out.example.clear();
    out.cut_off = record.cut_off;
  } else if (fields.size() != width_) {
    const bool fewer = fields.size() < width_;
    out.reason = fewer ? "fewer cells than columns" : "more cells than columns";
    out.example = fmt::to_string(fields.size());
    out.cut_off = fewer && record.cut_off;
    if (columns_[kOpCode] < fields.size()) out.row.name = trimmed(fields[columns_[kOpCode]]);
  } else if (cells.is_header()) {
    out.kind = OpsRecord::Kind::header;
  } else if (cells.read_row(tensors)) {
    out.kind = OpsRecord::Kind::row;
  }
}

}  // namespace howard::profiler
