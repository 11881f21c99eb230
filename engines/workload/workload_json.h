// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "engines/workload/workload.h"

namespace howard::workload {

/// What a file of a workload calls itself.
inline constexpr const char* kSchema = "howard.workload/1";

/// As JSON (docs/workload_format.md), a command a line; equal workloads give equal texts.
std::string to_json(const Workload& workload);

/// The inverse; a list of ops (op_list_file.h) becomes the workload that it describes. Error, with
/// the place in the text, for anything else: another schema or version, numbers that name nothing,
/// shapes that no tensor has.
Workload parse_workload(const std::string& text, const std::string& name);

/// The same of a file. Error, too, when it can not be read.
Workload read_workload(const std::filesystem::path& path);

}  // namespace howard::workload
