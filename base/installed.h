// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace howard {

/// What was installed at `place`, a path below the prefix ("share/howard/data"), with the running
/// program, wherever that tree lies now. Absent when there is none, as for a program of a build
/// tree.
std::optional<std::filesystem::path> installed(const std::filesystem::path& place);

}  // namespace howard
