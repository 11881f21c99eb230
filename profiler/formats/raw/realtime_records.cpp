// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/raw/realtime_records.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "profiler/formats/ops_csv/ops_timeline.h"

namespace howard::profiler {
namespace {

using Json = nlohmann::json;

/// Returns the first of some members that a record has as a whole number that is not negative.
std::optional<std::int64_t> count_in(const Json& record, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const auto found = record.find(name);
    if (found == record.end() || !found->is_number_integer()) continue;
    if (found->is_number_unsigned() &&
        found->get<std::uint64_t>() >
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      continue;
    }
    const auto value = found->get<std::int64_t>();
    if (value >= 0) return value;
  }
  return std::nullopt;
}

/// Returns the name of the file of a program's compute kernel, or of its first kernel.
std::string op_name_of(const Json& record) {
  for (const char* const member : {"kernel_sources", "kernel_source_paths", "kernels"}) {
    const auto sources = record.find(member);
    if (sources == record.end() || !sources->is_array()) continue;
    std::string name;
    for (const Json& source : *sources) {
      if (!source.is_string()) continue;
      const std::filesystem::path path = source.get<std::string>();
      const bool computes = path.string().find("compute") != std::string::npos;
      if (name.empty() || computes) name = path.stem().string();
      if (computes) break;
    }
    if (!name.empty()) return name;
  }
  return "";
}

/// Makes rows of records.
class RealtimeReader {
 public:
  RealtimeReader(Log& log, const ReadOptions& options)
      : log_(log), builder_(log, {.names = true, .latencies = true}, options) {}

  void take(std::string_view line) {
    ++line_;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    const Json record = Json::parse(line, nullptr, false);
    if (!record.is_object()) return drop("no JSON object", line);
    if (const auto lost = count_in(record, {"lost", "lost_records", "dropped"});
        lost && *lost > 0) {
      log_.dropped.add("a record that the profiler lost", line_, {},
                       static_cast<std::uint64_t>(*lost));
    }
    const auto id = count_in(record, {"runtime_id", "program_id"});
    if (!id) return;
    const auto start = count_in(record, {"start", "start_timestamp"});
    const auto end = count_in(record, {"end", "end_timestamp"});
    const auto frequency = record.find("frequency");
    if (!start || !end) return drop("a record without start and end", line);
    if (frequency == record.end() || !frequency->is_number()) {
      return drop("a record without frequency", line);
    }
    const double ticks = frequency->get<double>();  // a nanosecond
    const double nanoseconds = static_cast<double>(*end - *start) / ticks;
    constexpr double kDay = 86'400e9;
    if (*end < *start || !(ticks > 0) || !(nanoseconds < kDay)) {
      return drop("a record whose times mean nothing", line);
    }
    const std::int64_t chip = count_in(record, {"chip_id"}).value_or(0);
    if (chip > std::numeric_limits<std::uint16_t>::max()) {
      return drop("chip_id is no device's number", line);
    }
    const std::string name = op_name_of(record);
    const SimTime time = SimTime::picoseconds(std::llround(nanoseconds * 1e3));
    OpRow row;
    row.line = line_;
    row.name = name;
    row.type = "tt_dnn_device";
    row.call = id;
    row.device = static_cast<std::uint16_t>(chip);
    row.firmware_start = start;
    row.firmware_end = end;
    row.firmware_time = time;
    row.kernel_time = time;
    builder_.add(row);
  }

  void finish() {
    builder_.end_run();
    builder_.end_log();
  }

 private:
  void drop(std::string_view reason, std::string_view line) {
    constexpr std::size_t kShown = 60;
    log_.dropped.add(reason, line_, line.substr(0, kShown));
  }

  Log& log_;
  OpsTimelineBuilder builder_;
  std::uint64_t line_ = 0;
};

}  // namespace

bool is_realtime_record(std::string_view line) {
  const auto has = [&](std::string_view word) { return line.find(word) != line.npos; };
  return line.starts_with('{') && (has("\"runtime_id\"") || has("\"program_id\"")) &&
         has("\"frequency\"");
}

Log read_realtime_records(ByteSource& source, const ReadOptions& options) {
  constexpr std::size_t kLongestLine = 1 << 20;
  Log log;
  RealtimeReader reader(log, options);
  std::string rest;
  std::array<char, 64 * 1024> buffer{};
  while (const std::size_t size = source.read(buffer)) {
    rest.append(buffer.data(), size);
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      reader.take(std::string_view(rest).substr(begin, end - begin));
    }
    rest.erase(0, begin);
    if (rest.size() > kLongestLine) rest.resize(kLongestLine);  // it is no record
  }
  if (!rest.empty()) {
    if (!Json::accept(rest)) log.notes.emplace_back("the file ends within a record");
    reader.take(rest);
  }
  reader.finish();
  return log;
}

}  // namespace howard::profiler
