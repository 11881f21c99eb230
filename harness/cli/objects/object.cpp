// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/objects/object.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "profiler/formats/csv/packed_source.h"
#include "profiler/formats/log_file.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

/// What says what a file is stands near its beginning.
constexpr std::size_t kLooksAt = profiler::kDetectionBytes;

/// The profiler's folders are not nested deeper: generated/profiler/reports/DATE.
constexpr int kDeepest = 4;

/// So many files of a folder are looked into, and so many are named.
constexpr std::size_t kMostLookedInto = 100;
constexpr std::size_t kMostNamed = 4;

Object other(const fs::path& file, std::string why) {
  return {ObjectKind::other, file, std::move(why)};
}

/// Returns what a file is that has no ending of its own: a log, if its first bytes say so.
Object by_content(const fs::path& file, std::string_view beginning) {
  if (profiler::is_packed(beginning)) return {ObjectKind::log, file};
  const std::string first(beginning.substr(0, beginning.find('\n')));
  if (first.starts_with("#!")) {
    if (first.find("python") != std::string::npos) return {ObjectKind::script, file};
    return other(file, fmt::format("it is a program, and begins with '{}'", first.substr(0, 60)));
  }
  try {
    const profiler::LogKind kind = profiler::detect_kind(beginning, file.string());
    return {kind == profiler::LogKind::result ? ObjectKind::result : ObjectKind::log, file};
  } catch (const Error& failure) {
    return other(file, failure.text().value);
  }
}

Object json_at(const fs::path& file) {
  const std::string text = beginning_of(file, kLooksAt);
  const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  if (has("\"howard.result/")) return {ObjectKind::result, file};
  if (has("\"howard.workload/") || has("\"howard.ops/")) return {ObjectKind::workload, file};
  if (has("\"model_type\"") || has("\"architectures\"")) return {ObjectKind::model, file};
  if (has("\"traceEvents\"") || has("\"ph\"")) return {ObjectKind::log, file};
  if (has("\"benchmarks\"") || has("\"unit\"") || has("\"times\"")) {
    return other(file, "it is what a benchmark program wrote: compare OLD NEW and track take it");
  }
  if (trimmed(text).starts_with('[')) return {ObjectKind::log, file};
  return other(file,
               "it is JSON, but no result, workload, configuration of a model or Chrome trace");
}

Object file_at(const fs::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".py") return {ObjectKind::script, file};
  if (ending == ".yaml" || ending == ".yml") return {ObjectKind::training, file};
  if (ending == ".onnx") return {ObjectKind::onnx, file};
  if (ending == ".mlir") return {ObjectKind::mlir, file};
  return ending == ".json" ? json_at(file) : by_content(file, beginning_of(file, kLooksAt));
}

/// What lies in a folder and may be meant by it.
struct Inside {
  std::vector<fs::path> logs;     ///< Of the profiler, the one that is taken first.
  std::vector<Object> objects{};  ///< Others that lie in it directly.
  bool has(ObjectKind kind) const {
    return std::ranges::find(objects, kind, &Object::kind) != objects.end();
  }
};

Inside inside(const fs::path& folder) {
  Inside found;
  std::error_code failure;
  std::size_t looked_into = 0;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(folder, options, failure), end;
       !failure && entry != end; entry.increment(failure)) {
    if (entry.depth() >= kDeepest) entry.disable_recursion_pending();
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    const fs::path& file = entry->path();
    if (profiler::is_profilers_log(file)) {
      found.logs.push_back(file);
    } else if (entry.depth() == 0 && looked_into++ < kMostLookedInto) {
      Object object = file_at(file);
      if (object.kind != ObjectKind::other) found.objects.push_back(std::move(object));
    }
  }
  std::ranges::sort(found.logs, std::greater(), profiler::log_rank);
  std::ranges::sort(found.objects, {}, &Object::path);
  return found;
}

/// Returns "a.csv (a log), b.csv (a log) and 3 more".
std::string named(const std::vector<Object>& objects) {
  std::vector<std::string> names;
  for (const Object& object : objects) {
    if (names.size() == kMostNamed) break;
    names.push_back(fmt::format("{} ({})", object.path.filename().string(), name_of(object.kind)));
  }
  const std::size_t more = objects.size() - names.size();
  return join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

Object object_in(const fs::path& folder) {
  const Inside found = inside(folder);
  if (found.has(ObjectKind::result)) {
    return {
        ObjectKind::result, folder,
        found.logs.empty() ? "" : fmt::format("it has a log too, {}", found.logs.front().string())};
  }
  if (!found.logs.empty()) {
    const std::size_t others = found.logs.size() - 1;
    return {ObjectKind::log, found.logs.front(),
            others == 0 ? "" : fmt::format("the newest of {} logs in it", others + 1)};
  }
  const auto config = std::ranges::find(found.objects, "config.json",
                                        [](const Object& one) { return one.path.filename(); });
  if (config != found.objects.end()) return *config;
  if (found.objects.size() == 1) return found.objects.front();
  const bool is_empty = found.objects.empty();
  throw Error({.attempted = fmt::format("tell what the folder {} is", folder.string()),
               .value = is_empty ? "it has neither results nor a log of tt-metal's profiler"
                                 : "it has " + named(found.objects),
               .accepted = "a folder with *.json of a run, or with an ops_perf_results CSV",
               .hint = is_empty
                           ? ""
                           : "run_experiment " + shell_word(found.objects.front().path.string())});
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
    case ObjectKind::mlir:
      return "a module of the TTNN dialect";
    case ObjectKind::model:
      return "a model's configuration";
    case ObjectKind::workload:
      return "a workload";
    case ObjectKind::result:
      return "a run's results";
    case ObjectKind::log:
      return "a log";
    case ObjectKind::other:
      return "nothing that a command takes";
  }
  return "";
}

std::optional<Object> object_at(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!fs::exists(status)) return std::nullopt;
  if (fs::is_directory(status)) return object_in(path);
  if (fs::is_regular_file(status)) return file_at(path);
  return other(path, "it is a pipe or a device, whose content is not known before it is read");
}

bool looks_like_file(std::string_view word) {
  constexpr std::array kEndings = std::to_array<std::string_view>(
      {".py", ".mlir", ".yaml", ".yml", ".onnx", ".json", ".jsonl", ".csv", ".gz", ".tgz", ".zst",
       ".xz", ".tar", ".zip", ".pftrace", ".txt", ".log"});
  return word.find('/') != std::string_view::npos ||
         std::ranges::any_of(kEndings, [&](std::string_view end) { return word.ends_with(end); });
}

}  // namespace howard::cli
