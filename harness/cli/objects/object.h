// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace howard::cli {

/// Says what a file or a folder of a user is.
enum class ObjectKind : std::uint8_t {
  script,    ///< Python: step.py, or a file that begins with "#!" and names it.
  training,  ///< A training of TTML's: training.yaml.
  onnx,      ///< A model that is stored with its graph: model.onnx.
  mlir,      ///< A module of tt-mlir's TTNN dialect: module.mlir.
  model,     ///< The sizes of a language model, Hugging Face's config.json.
  workload,  ///< howard.workload JSON, or a list of ops, howard.ops.
  result,    ///< howard.result JSON, or a folder with some.
  log,       ///< A log or a trace, which analyze tells apart.
  other,     ///< Nothing that a command takes by itself.
};

/// Returns "a script", "a log" and so on.
std::string_view name_of(ObjectKind kind);

struct Object {
  ObjectKind kind = ObjectKind::other;
  std::filesystem::path path;  ///< The file; of a folder of the profiler, the newest log in it.
  /// Of one that no command takes, why; of a folder, what else it has that may be meant.
  std::string remark = {};
};

/// Returns what a path is: by its ending, or by its first bytes. Absent if nothing is there. Throws
/// Error for a folder that holds nothing of use, or several things of which one may be meant.
std::optional<Object> object_at(const std::string& path);

/// Says whether a word looks like the name of a file, though none may be there: it has a slash or
/// an ending of one.
bool looks_like_file(std::string_view word);

}  // namespace howard::cli
