// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/ops_csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "profiler/formats/cycle_counter.h"
#include "profiler/formats/decimal.h"
#include "profiler/formats/ops_timeline.h"

namespace howard::profiler {
namespace {

/// The columns that are read, tensors aside; the enumerators index their names.
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
};
constexpr std::array<std::string_view, 18> kNames = {
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
};
constexpr std::array kRequired = {kOpCode, kFirmwareStart, kKernelTime};

/// The cells of a tensor: dimensions from version 2 on, and before.
constexpr std::array<std::string_view, 7> kTensorCells = {
    "_W_PAD[LOGICAL]", "_Z_PAD[LOGICAL]", "_Y_PAD[LOGICAL]", "_X_PAD[LOGICAL]",
    "_LAYOUT",         "_DATATYPE",       "_MEMORY"};
constexpr std::array<std::string_view, 4> kOldDimensions = {"_W", "_Z", "_Y", "_X"};
constexpr std::size_t kX = 3;
constexpr int kMostTensors = 32;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// An integer, also as a spreadsheet or a data frame writes it: "1024.0".
std::optional<std::int64_t> parse_count(std::string_view text) {
  const auto integer = parse_integer(text);
  return integer ? integer : parse_scaled(text, 0);
}

}  // namespace

OpsCsvReader::OpsCsvReader(ByteSource& source, std::string_view name, DroppedRows& dropped)
    : csv_(source), dropped_(dropped) {
  find_columns(name);
}

void OpsCsvReader::find_columns(std::string_view name) {
  const bool read = csv_.next();
  const auto fields = csv_.fields();
  width_ = fields.size();
  const auto find = [&](std::string_view wanted) {
    const auto found = std::ranges::find(fields, wanted, trimmed);
    return found != fields.end() ? static_cast<std::size_t>(found - fields.begin()) : kAbsent;
  };
  for (const std::string_view column : kNames) columns_.push_back(find(column));
  std::vector<std::string> missing;
  for (const Column column : kRequired) {
    if (columns_[column] == kAbsent) missing.emplace_back(kNames[column]);
  }
  if (!missing.empty()) {
    throw Error({.attempted = fmt::format("read {} as ops_perf_results", name),
                 .value = !read ? "the file is empty"
                                : fmt::format("line {} has no column {}", csv_.line(),
                                              join(missing, ", no column ")),
                 .accepted = "a header with at least OP CODE, DEVICE FW START CYCLE and "
                             "DEVICE KERNEL DURATION [ns]",
                 .hint = ""});
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
}

bool OpsCsvReader::next() {
  starts_file_ = false;
  while (csv_.next()) {
    if (csv_.defect()) {
      dropped_.add(*csv_.defect(), csv_.line());
      cut_off_ = csv_.is_cut_off();
    } else if (is_header()) {
      starts_file_ = true;
    } else if (csv_.fields().size() < width_) {
      cut_off_ = csv_.is_cut_off();
      dropped_.add("fewer cells than columns", csv_.line(),
                   fmt::format("{}", csv_.fields().size()));
    } else if (csv_.fields().size() > width_) {
      dropped_.add("more cells than columns", csv_.line(), fmt::format("{}", csv_.fields().size()));
    } else if (read_row()) {
      return true;
    }
  }
  return false;
}

bool OpsCsvReader::is_header() const {
  return csv_.fields().size() == width_ && trimmed(cell(columns_[kOpCode])) == kNames[kOpCode] &&
         trimmed(cell(columns_[kKernelTime])) == kNames[kKernelTime];
}

std::string_view OpsCsvReader::cell(std::size_t column) const {
  return column == kAbsent ? std::string_view{} : csv_.fields()[column];
}

void OpsCsvReader::reject(std::size_t which, std::string_view problem) {
  dropped_.add(fmt::format("{} (column {}) {}", kNames[which], columns_[which] + 1, problem),
               csv_.line(), cell(columns_[which]));
}

std::optional<std::int64_t> OpsCsvReader::integer(std::size_t which, bool& good) {
  const std::string_view text = trimmed(cell(columns_[which]));
  if (text.empty() || !good) return std::nullopt;
  const auto value = parse_count(text);
  if (!value) reject(which, "is not an integer");
  good = value.has_value();
  return value;
}

std::optional<SimTime> OpsCsvReader::nanoseconds(std::size_t which, bool& good) {
  const std::string_view text = trimmed(cell(columns_[which]));
  if (text.empty() || !good) return std::nullopt;
  const auto picoseconds = parse_scaled(text, 3);
  if (!picoseconds) {
    reject(which, "is not a number");
  } else if (*picoseconds < 0 && which != kOpToOp) {
    reject(which, "is negative");
  } else if (SimTime::picoseconds(std::abs(*picoseconds)) > kLongestLoggedTime) {
    reject(which, "is over a day");
  } else {
    return SimTime::picoseconds(*picoseconds);
  }
  good = false;
  return std::nullopt;
}

bool OpsCsvReader::read_row() {
  bool good = true;
  row_.line = csv_.line();
  row_.name = trimmed(cell(columns_[kOpCode]));
  row_.type = trimmed(cell(columns_[kOpType]));
  row_.architecture = trimmed(cell(columns_[kArchitecture]));
  row_.attributes = trimmed(cell(columns_[kAttributes]));
  row_.fidelity = trimmed(cell(columns_[kFidelity]));
  const auto device = integer(kDevice, good);
  if (device && (*device < 0 || *device > std::numeric_limits<std::uint16_t>::max())) {
    reject(kDevice, "is no device's number");
    good = false;
  }
  row_.call = integer(kCall, good);
  row_.cores = integer(kCores, good);
  row_.worker_cores = integer(kWorkerCores, good);
  row_.host_time = nanoseconds(kHostTime, good);
  row_.firmware_start = integer(kFirmwareStart, good);
  row_.firmware_end = integer(kFirmwareEnd, good);
  row_.firmware_time = nanoseconds(kFirmwareTime, good);
  row_.kernel_time = nanoseconds(kKernelTime, good);
  row_.start_skew = nanoseconds(kStartSkew, good);
  row_.op_to_op = nanoseconds(kOpToOp, good);
  row_.trace = integer(kTrace, good);
  row_.replay = integer(kReplay, good);
  if (!good) return false;
  row_.device = static_cast<std::uint16_t>(device.value_or(0));
  read_tensors(input_columns_, row_.inputs);
  read_tensors(output_columns_, row_.outputs);
  return true;
}

void OpsCsvReader::read_tensors(const std::vector<TensorColumns>& columns,
                                std::vector<TensorCells>& tensors) {
  tensors.clear();
  for (const TensorColumns& at : columns) {
    if (cell(at[kX]).empty()) continue;
    tensors.push_back({.dimensions = {cell(at[0]), cell(at[1]), cell(at[2]), cell(at[3])},
                       .layout = cell(at[4]),
                       .datatype = cell(at[5]),
                       .memory = cell(at[6])});
  }
}

Log read_ops_csv(ByteSource& source, std::string_view name) {
  Log log;
  OpsCsvReader reader(source, name, log.dropped);
  OpsTimelineBuilder builder(log);
  while (reader.next()) {
    if (reader.starts_file()) builder.end_run();
    builder.add(reader.row());
  }
  builder.end_run();
  if (reader.is_cut_off()) log.notes.emplace_back("the file ends within a row");
  return log;
}

}  // namespace howard::profiler
