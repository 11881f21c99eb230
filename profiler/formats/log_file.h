// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/formats/csv/byte_source.h"
#include "profiler/formats/log.h"

namespace howard::profiler {

enum class LogKind : std::uint8_t {
  ops_csv,         ///< ops_perf_results_*.csv
  device_log,      ///< profile_log_device.csv
  chrome_trace,    ///< Written by Howard or another program.
  perfetto_trace,  ///< Written by Howard or another program.
  result,          ///< Howard's result JSON, "howard.result/1".
  raw_ops,         ///< One of the files of which tt-metal makes ops_perf_results_*.csv.
  perf_report,     ///< The CSV that tt-perf-report writes.
  streamed_ops,    ///< The CSV of tt-metal's streaming profiler, of September 2026.
  realtime,        ///< Records of tt-metal's real-time profiler, a JSON object a line.
};

/// Returns "ops_perf_results", "profile_log_device", "Chrome trace", "Perfetto trace",
/// "howard.result", "raw file of tt-metal's profiler", "tt-perf-report", "streaming profiler's CSV"
/// or "real-time profiler's records".
std::string_view name_of(LogKind kind);

/// `detect_kind` needs to see this much of a file, if the file is that long.
inline constexpr std::size_t kDetectionBytes = 64 * 1024;

/// Returns the kind of a file that begins with `beginning`. The content decides, never the name.
/// Throws Error, with what it seems to be, if it is of no kind that can be read. `name` is the
/// file's name.
LogKind detect_kind(std::string_view beginning, std::string_view name);

/// Says whether tt-metal's profiler gives its logs such a name.
bool is_profilers_log(const std::filesystem::path& file);
/// Orders the logs of a folder: those that name ops come last, and of them the newest, which is
/// that of the last date in their names.
std::pair<bool, std::string> log_rank(const std::filesystem::path& file);

/// Says whether a log of that kind is read as the ops_perf_results CSV that is made of it.
bool becomes_ops_csv(LogKind kind);

/// Holds an ops_perf_results CSV that was made of something else, and what its reader must know.
struct OpsCsvText {
  std::string csv;
  ToldCalls told = {};
  std::vector<std::string> notes = {};

  const ToldCalls* told_calls() const { return told.rows.empty() ? nullptr : &told; }
};
/// Makes it. `name` is the file's path: a raw file is joined with those in its folder. Throws Error
/// as read_raw_files() does.
OpsCsvText ops_csv_text(LogKind kind, ByteSource& source, std::string_view name);

/// Reads a log of any kind but a result. `name` is the file's path: a streaming profiler's CSV gets
/// the names and operands of its ops from an ops_perf_results CSV in its folder, by GLOBAL CALL
/// COUNT. Throws Error as the readers do, and for a range of a log that has no signposts.
Log read_log(LogKind kind, ByteSource& source, std::string_view name,
             const ReadOptions& options = {});

}  // namespace howard::profiler
