// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/objects/object.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

/// What says what a JSON file is stands near its beginning.
constexpr std::size_t kLooksAt = 64 * 1024;

/// The profiler's folders are not nested deeper: generated/profiler/reports/DATE.
constexpr int kDeepest = 4;

std::string beginning_of(const fs::path& file) {
  std::string text(kLooksAt, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return text;
}

ObjectKind kind_of_json(const fs::path& file) {
  const std::string text = beginning_of(file);
  const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  if (has("\"howard.result/")) return ObjectKind::result;
  if (has("\"howard.workload/")) return ObjectKind::workload;
  if (has("\"model_type\"") || has("\"architectures\"")) return ObjectKind::model;
  return ObjectKind::log;
}

ObjectKind kind_of_file(const fs::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".py") return ObjectKind::script;
  if (ending == ".yaml" || ending == ".yml") return ObjectKind::training;
  if (ending == ".onnx") return ObjectKind::onnx;
  return ending == ".json" ? kind_of_json(file) : ObjectKind::log;
}

bool is_profilers(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("ops_perf_results") || name.starts_with("profile_log_device") ||
         name.starts_with("cpp_device_perf_report");
}

/// Orders the logs of a folder: those that name ops come last, and of them the newest, which is
/// that of the last date in their names.
std::pair<bool, std::string> rank_of(const fs::path& file) {
  return {file.filename().string().starts_with("ops_perf_results"), file.string()};
}

Object object_in(const fs::path& folder) {
  std::error_code failure;
  std::optional<fs::path> log;
  bool has_results = false;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, options, failure), end;
       !failure && entry != end; entry.increment(failure)) {
    if (entry.depth() >= kDeepest) entry.disable_recursion_pending();
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    const fs::path& file = entry->path();
    if (is_profilers(file) && (!log || rank_of(*log) < rank_of(file))) log = file;
    has_results = has_results || (entry.depth() == 0 && file.extension() == ".json" &&
                                  kind_of_json(file) == ObjectKind::result);
  }
  if (has_results) return {ObjectKind::result, folder};
  if (log) return {ObjectKind::log, *log};
  if (fs::is_regular_file(folder / "config.json", failure)) {
    return {kind_of_json(folder / "config.json"), folder / "config.json"};
  }
  throw Error({.attempted = fmt::format("tell what the folder {} is", folder.string()),
               .value = "it has neither results nor a log of tt-metal's profiler",
               .accepted = "a folder with *.json of a run, or with an ops_perf_results CSV"});
}

}  // namespace

std::string_view name_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::script:
      return "a script";
    case ObjectKind::training:
      return "a training";
    case ObjectKind::onnx:
      return "an ONNX model";
    case ObjectKind::model:
      return "a model's configuration";
    case ObjectKind::workload:
      return "a workload";
    case ObjectKind::result:
      return "a run's results";
    case ObjectKind::log:
      return "a log";
  }
  return "";
}

std::optional<Object> object_at(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) return object_in(path);
  if (!fs::is_regular_file(status)) return std::nullopt;
  return Object{kind_of_file(path), path};
}

bool looks_like_file(std::string_view word) {
  constexpr std::array<std::string_view, 10> kEndings{".py",  ".yaml", ".yml",     ".onnx", ".json",
                                                      ".csv", ".gz",   ".pftrace", ".txt",  ".log"};
  return word.find('/') != std::string_view::npos ||
         std::ranges::any_of(kEndings, [&](std::string_view end) { return word.ends_with(end); });
}

}  // namespace howard::cli
