// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/log_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "profiler/formats/device_log/device_log_reader.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "profiler/formats/raw/raw_ops.h"
#include "profiler/formats/raw/realtime_records.h"
#include "profiler/formats/traces/chrome_trace_reader.h"
#include "profiler/formats/traces/perfetto_reader.h"

namespace howard::profiler {
namespace {

/// Says what a file that cannot be read seems to be, and what to do with it.
struct Guess {
  std::string value;
  std::string hint;
};

Guess guess(std::string_view beginning) {
  if (beginning.empty()) return {"the file is empty", "the run again: its log was not written"};
  if (beginning.starts_with("tracy") || beginning.starts_with("tlZ") ||
      beginning.starts_with("tr\xfdP")) {
    return {"it is a Tracy capture", "the ops_perf_results CSV of the same run"};
  }
  const auto is_control = [](char c) {
    return c >= '\0' && c < ' ' && c != '\t' && c != '\n' && c != '\r';
  };
  if (std::ranges::any_of(beginning, is_control)) {
    return {"it is no text", ""};
  }
  const std::string_view line = beginning.substr(0, beginning.find_first_of("\r\n"));
  return {fmt::format("its first line is '{}'", line.substr(0, 60)), ""};
}

}  // namespace

std::string_view name_of(LogKind kind) {
  switch (kind) {
    case LogKind::ops_csv:
      return "ops_perf_results";
    case LogKind::device_log:
      return "profile_log_device";
    case LogKind::chrome_trace:
      return "Chrome trace";
    case LogKind::perfetto_trace:
      return "Perfetto trace";
    case LogKind::result:
      return "howard.result";
    case LogKind::raw_ops:
      return "raw file of tt-metal's profiler";
    case LogKind::perf_report:
      return "tt-perf-report";
    case LogKind::streamed_ops:
      return "streaming profiler's CSV";
    case LogKind::realtime:
      return "real-time profiler's records";
  }
  return "";
}

LogKind detect_kind(std::string_view beginning, std::string_view name) {
  if (is_perfetto_trace(beginning)) return LogKind::perfetto_trace;
  std::string_view text = beginning;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const std::string_view line = text.substr(0, text.find('\n'));
  if (text.starts_with("ARCH:")) return LogKind::device_log;
  const auto has = [&](std::string_view word) { return line.find(word) != line.npos; };
  const bool has_messages = has("MessageName") && has("total_ns");
  const bool is_report_of_devices = has("OP NAME") && !has("OP CODE");
  if (has_messages || (has("ns_since_start") && has("exec_time_ns")) || is_report_of_devices) {
    return LogKind::raw_ops;
  }
  if (has("OP Code") && has("Device Time")) return LogKind::perf_report;
  if (has("DEVICE KERNEL START CYCLE") && has("EXECUTION") && !has("OP CODE")) {
    return LogKind::streamed_ops;
  }
  if (line.find("OP CODE") != line.npos || line.find("DEVICE KERNEL DURATION") != line.npos) {
    return LogKind::ops_csv;
  }
  if (text.starts_with('{') || text.starts_with('[')) {
    if (text.find("\"howard.result/") != text.npos) return LogKind::result;
    if (is_realtime_record(line)) return LogKind::realtime;
    return LogKind::chrome_trace;
  }
  Guess found = guess(beginning);
  throw Error({.attempted = fmt::format("tell what {} is", name),
               .value = std::move(found.value),
               .accepted = "ops_perf_results CSV, profile_log_device CSV, tt-metal's raw files, "
                           "tt-perf-report's CSV, the streaming profiler's CSV, real-time "
                           "records as JSON lines, Chrome trace JSON, Perfetto trace, "
                           "howard.result JSON; each also as .gz, .zst or .xz, or in a tar or "
                           "zip archive",
               .hint = std::move(found.hint)});
}

namespace {

/// Returns the rest of a file.
std::string rest_of(ByteSource& source) {
  std::string text;
  std::array<char, 64 * 1024> buffer{};
  while (const std::size_t size = source.read(buffer)) text.append(buffer.data(), size);
  return text;
}

/// These are the names that tt-metal gives its raw files, in the order of RawFiles.
constexpr std::array<std::string_view, 3> kRawNames{"tracy_ops_data.csv", "tracy_ops_times.csv",
                                                    "cpp_device_perf_report.csv"};

/// Returns which of the raw files a text is.
std::size_t raw_file_of(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.find("MessageName") != line.npos) return 0;
  return line.find("ns_since_start") != line.npos ? 1 : 2;
}

OpsCsvText join_raw_files(std::string text, std::string_view name) {
  const std::size_t own = raw_file_of(text);
  const std::filesystem::path folder = std::filesystem::path(name).parent_path();
  RawFiles files;
  const std::array<std::string*, kRawNames.size()> texts{&files.ops, &files.times, &files.devices};
  std::vector<std::string> others;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::filesystem::path other = folder / kRawNames.at(i);
    std::error_code ignored;
    if (i == own || !std::filesystem::is_regular_file(other, ignored)) continue;
    FileSource source(other);
    *texts.at(i) = rest_of(source);
    others.emplace_back(kRawNames.at(i));
  }
  *texts.at(own) = std::move(text);
  OpsCsvText found;
  found.csv = read_raw_files(files, name, found.told);
  if (!others.empty()) {
    found.notes.push_back(
        fmt::format("read together with {} of its folder", join(others, " and ")));
  }
  if (files.devices.empty()) {
    found.notes.push_back(
        fmt::format("there is no {} beside it: only what the host did is known", kRawNames[2]));
  }
  return found;
}

/// Returns the newest ops_perf_results CSV in a folder, by the date in its name; "" if there is
/// none.
std::filesystem::path ops_csv_in(const std::filesystem::path& folder) {
  std::filesystem::path newest;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(
           folder.empty() ? std::filesystem::path(".") : folder, ignored)) {
    const std::filesystem::path& file = entry.path();
    const bool names_ops = log_rank(file).first && file.extension() == ".csv";
    if (names_ops && log_rank(newest) < log_rank(file)) newest = file;
  }
  return newest;
}

/// Returns what the rows of an ops_perf_results CSV tell of calls; the first row of a call counts.
ToldCalls calls_of(const std::filesystem::path& file) {
  ToldCalls told;
  const auto keep = [&](std::string_view text) -> std::string_view {
    return text.empty() ? text : std::string_view(told.texts.emplace_back(text));
  };
  FileSource source(file);
  DroppedRows dropped;
  for_each_op_row(
      source, file.string(), Tensors::read, dropped,
      [&](const OpRow& row) {
        if (!row.call || row.type == "signpost" || told.rows.contains(*row.call)) return;
        OpRow& kept = told.rows[*row.call];
        kept.name = keep(row.name);
        kept.attributes = keep(row.attributes);
        kept.fidelity = keep(row.fidelity);
        kept.host_start = row.host_start;
        kept.host_time = row.host_time;
        for (const auto side : {&OpRow::inputs, &OpRow::outputs}) {
          for (TensorCells cells : row.*side) {
            for (std::string_view& dimension : cells.dimensions) dimension = keep(dimension);
            cells.layout = keep(cells.layout);
            cells.datatype = keep(cells.datatype);
            cells.memory = keep(cells.memory);
            (kept.*side).push_back(cells);
          }
        }
      },
      [](const OpsFileKnows&) {});
  return told;
}

Log read_streamed_ops(ByteSource& source, std::string_view name, ReadOptions options) {
  const std::filesystem::path beside = ops_csv_in(std::filesystem::path(name).parent_path());
  ToldCalls told;
  if (!beside.empty()) told = calls_of(beside);
  if (!told.rows.empty()) options.told = &told;
  Log log = read_ops_csv(source, name, options);
  log.notes.push_back(beside.empty() ? std::string("there is no ops_perf_results CSV beside it, "
                                                   "which would name its ops")
                                     : "its ops are named by " + beside.filename().string());
  return log;
}

}  // namespace

bool is_profilers_log(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("ops_perf_results") || name.starts_with("profile_log_device") ||
         name.starts_with("cpp_device_perf_report");
}

std::pair<bool, std::string> log_rank(const std::filesystem::path& file) {
  return {file.filename().string().starts_with("ops_perf_results"), file.string()};
}

bool becomes_ops_csv(LogKind kind) {
  return kind == LogKind::raw_ops || kind == LogKind::perf_report;
}

OpsCsvText ops_csv_text(LogKind kind, ByteSource& source, std::string_view name) {
  HOWARD_CHECK(becomes_ops_csv(kind), "other logs are read as they are");
  if (kind == LogKind::raw_ops) return join_raw_files(rest_of(source), name);
  return {.csv = ops_csv_of_report(rest_of(source), name),
          .notes = {"it is tt-perf-report's: of ops that are no products it does not say what they "
                    "are of, and of products not where the second operand and the result are"}};
}

Log read_log(LogKind kind, ByteSource& source, std::string_view name, const ReadOptions& options) {
  const bool has_calls = kind == LogKind::ops_csv || kind == LogKind::streamed_ops ||
                         kind == LogKind::realtime || becomes_ops_csv(kind);
  if (!has_calls && !options.range.is_whole()) {
    throw Error({.attempted = fmt::format("take a part of {}", name),
                 .value = fmt::format("a {} has no signposts", name_of(kind)),
                 .accepted = "an ops_perf_results CSV"});
  }
  switch (kind) {
    case LogKind::ops_csv:
      return read_ops_csv(source, name, options);
    case LogKind::streamed_ops:
      return read_streamed_ops(source, name, options);
    case LogKind::realtime:
      return read_realtime_records(source, options);
    case LogKind::device_log:
      return read_device_log(source, name);
    case LogKind::chrome_trace:
      return read_chrome_trace(source, name);
    case LogKind::perfetto_trace:
      return read_perfetto_trace(source, name);
    case LogKind::raw_ops:
    case LogKind::perf_report: {
      OpsCsvText text = ops_csv_text(kind, source, name);
      TextBytes bytes(text.csv);
      ReadOptions with = options;
      with.told = text.told_calls();
      Log log = read_ops_csv(bytes, name, with);
      std::ranges::move(text.notes, std::back_inserter(log.notes));
      return log;
    }
    case LogKind::result:
      break;
  }
  HOWARD_CHECK(false, "a result is no log");
}

}  // namespace howard::profiler
