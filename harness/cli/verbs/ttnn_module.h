// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace howard::cli {

/// Reads a module of tt-mlir's TTNN dialect and leaves what it asks of a device in `workload`. How
/// many ops became programs, and which are left out, is said on standard error. Throws Error when
/// the file cannot be read or has no op of the dialect.
void record_ttnn_module(const std::filesystem::path& module, const std::filesystem::path& workload);

}  // namespace howard::cli
