// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/device_log/device_log_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "profiler/formats/csv/csv_reader.h"
#include "profiler/formats/csv/decimal.h"
#include "profiler/formats/device_log/cycle_counter.h"
#include "profiler/formats/device_log/device_log_programs.h"

namespace howard::profiler {
namespace {

using Fields = std::span<const std::string_view>;

constexpr std::size_t kAbsent = ~std::size_t{0};
constexpr std::string_view kFirstWord = "ARCH:";

/// Says which columns of a row hold what is needed.
struct Columns {
  std::size_t device, x, y, risc, time, host_id, zone, type;
  std::size_t trace, counter, sub_device, data;  ///< kAbsent in files that do not have them.
  std::size_t width;
};

/// Reads one file whose rows are in order.
class DeviceLogReader {
 public:
  DeviceLogReader(ByteSource& source, std::string_view name, Log& log)
      : csv_(source), name_(name), log_(log), programs_(log, names_) {}

  void read() {
    if (!csv_.next()) refuse("the file is empty");
    read_first_lines();
    while (csv_.next()) {
      if (csv_.defect()) {
        drop(*csv_.defect());
      } else if (trimmed(csv_.fields().front()).starts_with(kFirstWord)) {
        programs_.end_file(architecture_, clock_);
        read_first_lines();
      } else {
        read_row(csv_.fields());
      }
      cut_off_ = csv_.is_cut_off();
    }
    programs_.end_file(architecture_, clock_);
    if (cut_off_) log_.notes.emplace_back("the file ends within a row");
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error({.attempted = fmt::format("read {} as profile_log_device", name_),
                 .value = what,
                 .accepted = "first line \"ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\", second line "
                             "the names of the columns"});
  }

  void drop(std::string_view reason, std::string_view example = {}) {
    log_.dropped.add(reason, csv_.line(), example);
  }

  /// Reads the current record and the next one.
  void read_first_lines() {
    const Fields first = csv_.fields();
    const std::string_view word = first.empty() ? std::string_view{} : trimmed(first.front());
    if (!word.starts_with(kFirstWord)) {
      refuse(fmt::format("line {} does not begin with {}", csv_.line(), kFirstWord));
    }
    architecture_ = trimmed(word.substr(kFirstWord.size()));
    std::optional<std::int64_t> hertz;
    for (const std::string_view field : first) {
      constexpr std::string_view kClock = "CHIP_FREQ[MHz]:";
      const std::string_view text = trimmed(field);
      if (text.starts_with(kClock)) hertz = parse_scaled(trimmed(text.substr(kClock.size())), 6);
    }
    clock_ = Frequency(hertz.value_or(0));
    if (clock_ < kSlowestClock || clock_ > kFastestClock) {
      refuse(fmt::format("line {} has no CHIP_FREQ[MHz] between 500 and 10000", csv_.line()));
    }
    if (!csv_.next()) refuse("it ends before the names of the columns");
    find_columns(csv_.fields());
  }

  void find_columns(Fields fields) {
    const auto find = [&](std::string_view wanted) {
      const auto found = std::ranges::find(fields, wanted, trimmed);
      return found != fields.end() ? static_cast<std::size_t>(found - fields.begin()) : kAbsent;
    };
    const auto need = [&](std::string_view wanted) {
      const std::size_t column = find(wanted);
      if (column == kAbsent) refuse(fmt::format("line {} has no column {}", csv_.line(), wanted));
      return column;
    };
    columns_ = {.device = need("PCIe slot"),
                .x = need("core_x"),
                .y = need("core_y"),
                .risc = need("RISC processor type"),
                .time = need("time[cycles since reset]"),
                .host_id = need("run host ID"),
                .zone = need("zone name"),
                .type = need("type"),
                .trace = find("trace id"),
                .counter = find("trace id counter"),
                .sub_device = find("sub_device_id"),
                .data = find("data"),
                .width = fields.size()};
  }

  /// Returns the cell as an integer; absent, and the row dropped, if it is not one or out of range.
  std::optional<std::int64_t> integer(
      Fields fields, std::size_t column, std::string_view name,
      std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
    const auto value = parse_integer(trimmed(fields[column]));
    if (!value || *value < 0 || *value > most) {
      drop(fmt::format("{} (column {}) is not a number that it can be", name, column + 1),
           fields[column]);
      return std::nullopt;
    }
    return value;
  }

  /// Empty cells, and columns that the file does not have, give -1.
  static std::int64_t trace_number(Fields fields, std::size_t column) {
    return column == kAbsent ? -1 : parse_integer(trimmed(fields[column])).value_or(-1);
  }

  void read_row(Fields fields) {
    // The last column, meta data, is not quoted and may hold commas.
    if (fields.size() < columns_.width) return drop("fewer cells than columns");
    const std::string_view type = trimmed(fields[columns_.type]);
    const std::string_view zone = trimmed(fields[columns_.zone]);
    const bool starts = type == "ZONE_START", is_total = type == "ZONE_TOTAL";
    if (!starts && !is_total && type != "ZONE_END") return;
    if (zone.ends_with("-FW") || (is_total && columns_.data == kAbsent)) return;
    const auto device =
        integer(fields, columns_.device, "PCIe slot", std::numeric_limits<std::uint16_t>::max());
    const auto x = device ? integer(fields, columns_.x, "core_x", 255) : std::nullopt;
    const auto y = x ? integer(fields, columns_.y, "core_y", 255) : std::nullopt;
    const auto time = y ? integer(fields, columns_.time, "time") : std::nullopt;
    const auto id = time ? integer(fields, columns_.host_id, "run host ID") : std::nullopt;
    if (!id) return;
    const DeviceLane lane{.device = static_cast<std::uint16_t>(*device),
                          .risc = names_.id(trimmed(fields[columns_.risc])),
                          .x = static_cast<std::int32_t>(*x),
                          .y = static_cast<std::int32_t>(*y)};
    const NameId name = names_.id(zone);
    if (is_total) {
      constexpr std::int64_t kMost = std::int64_t{1} << 44U;  // as far as a counter counts
      const auto cycles = integer(fields, columns_.data, "data", kMost);
      if (cycles) programs_.total(lane, *id, name, *cycles);
    } else if (zone.ends_with("KERNEL")) {
      read_kernel(fields, lane, name, *id, *time, starts);
    } else if (starts) {
      programs_.start_zone(lane, name, *time, csv_.line());
    } else {
      programs_.end_zone(lane, name, *time, csv_.line());
    }
  }

  void read_kernel(Fields fields, const DeviceLane& lane, NameId zone, std::int64_t id,
                   std::int64_t time, bool starts) {
    if (!starts) return programs_.end(lane, zone, time, csv_.line());
    const std::int64_t sub_device = trace_number(fields, columns_.sub_device);
    constexpr std::int64_t kMost = std::numeric_limits<std::uint16_t>::max();
    programs_.start(lane,
                    {.host_id = id,
                     .trace = trace_number(fields, columns_.trace),
                     .counter = trace_number(fields, columns_.counter)},
                    static_cast<std::uint16_t>(std::clamp<std::int64_t>(sub_device, 0, kMost)),
                    time, csv_.line());
  }

  CsvReader csv_;
  std::string_view name_;
  Log& log_;
  NameTable names_;  ///< Those of RISCs and zones.
  DeviceLogPrograms programs_;
  std::string architecture_;
  Frequency clock_;
  Columns columns_{};
  bool cut_off_ = false;
};

}  // namespace

Log read_device_log(ByteSource& source, std::string_view name) {
  Log log;
  DeviceLogReader(source, name, log).read();
  return log;
}

}  // namespace howard::profiler
