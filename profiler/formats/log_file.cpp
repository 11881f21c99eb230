// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/log_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/error.h"
#include "profiler/formats/device_log/device_log_reader.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"
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
  if (beginning.starts_with("\x1f\x8b")) return {"it is compressed", "gunzip"};
  if (beginning.starts_with("\x28\xb5\x2f\xfd")) return {"it is compressed", "unzstd"};
  if (beginning.starts_with("PK\x03\x04")) return {"it is a zip archive", "unzip"};
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
  if (line.find("OP CODE") != line.npos || line.find("DEVICE KERNEL DURATION") != line.npos) {
    return LogKind::ops_csv;
  }
  if (text.starts_with('{') || text.starts_with('[')) {
    if (text.find("\"howard.result/") != text.npos) return LogKind::result;
    return LogKind::chrome_trace;
  }
  Guess found = guess(beginning);
  throw Error({.attempted = fmt::format("tell what {} is", name),
               .value = std::move(found.value),
               .accepted = "ops_perf_results CSV, profile_log_device CSV, Chrome trace JSON, "
                           "Perfetto trace, howard.result JSON",
               .hint = std::move(found.hint)});
}

Log read_log(LogKind kind, ByteSource& source, std::string_view name, const ReadOptions& options) {
  if (kind != LogKind::ops_csv && !options.range.is_whole()) {
    throw Error({.attempted = fmt::format("take a part of {}", name),
                 .value = fmt::format("a {} has no signposts", name_of(kind)),
                 .accepted = "an ops_perf_results CSV"});
  }
  switch (kind) {
    case LogKind::ops_csv:
      return read_ops_csv(source, name, options);
    case LogKind::device_log:
      return read_device_log(source, name);
    case LogKind::chrome_trace:
      return read_chrome_trace(source, name);
    case LogKind::perfetto_trace:
      return read_perfetto_trace(source, name);
    case LogKind::result:
      break;
  }
  HOWARD_CHECK(false, "a result is no log");
}

}  // namespace howard::profiler
