// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profiler/formats/byte_source.h"
#include "profiler/formats/log.h"

namespace howard::profiler {

enum class LogKind : std::uint8_t {
  ops_csv,         ///< ops_perf_results_*.csv
  device_log,      ///< profile_log_device.csv
  chrome_trace,    ///< Howard's, or another program's.
  perfetto_trace,  ///< Howard's, or another program's.
  result,          ///< Howard's result JSON, "howard.result/1".
};

/// "ops_perf_results", "profile_log_device", "Chrome trace", "Perfetto trace",
/// "howard.result".
std::string_view name_of(LogKind kind);

/// How much of a file `detect_kind` needs to see, where it is that long.
inline constexpr std::size_t kDetectionBytes = 64 * 1024;

/// The kind of a file that begins with `beginning`: by what stands there, never by its name. Error,
/// with what it seems to be, when it is none that can be read. `name` is the file's.
LogKind detect_kind(std::string_view beginning, std::string_view name);

/// Reads a log of any kind but a result. Error as the readers throw them, and for a range of a log
/// that has no signposts.
Log read_log(LogKind kind, ByteSource& source, std::string_view name,
             const ReadOptions& options = {});

}  // namespace howard::profiler
