// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "engines/workload/workload.h"

namespace howard::workload {

/// A file of a workload names this schema.
inline constexpr const char* kSchema = "howard.workload/2";

/// Returns the workload as JSON (docs/workload_format.md), with what repeats said once. Equal
/// workloads give equal texts.
std::string to_json(const Workload& workload);

/// Parses such a text; a list of ops (op_list_file.h) becomes the workload that it describes.
/// Throws Error, with the place in the text, for anything else: another schema or version, numbers
/// that name nothing, and shapes that no tensor has.
Workload parse_workload(const std::string& text, const std::string& name);

/// Parses a file in the same way. Throws Error also when it cannot be read.
Workload read_workload(const std::filesystem::path& path);

}  // namespace howard::workload
