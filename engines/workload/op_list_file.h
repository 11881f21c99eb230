// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engines/workload/workload.h"

namespace howard::workload {

/// A file of ops that a user writes names this schema; docs/workload_format.md describes its form.
inline constexpr const char* kOpListSchema = "howard.ops/1";

bool is_op_list(const nlohmann::json& root);

/// Returns the workload that a list of ops describes: its tensors are made and written, its steps
/// run as often as they say, and a finish comes at the end. Throws Error, naming the step, for
/// anything that is not such a list.
Workload workload_of_op_list(const nlohmann::json& root, const std::string& name);

}  // namespace howard::workload
