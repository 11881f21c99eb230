// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace howard {

/// Returns the path of what was installed together with the running program at `place`, which is
/// relative to the prefix ("share/howard/data"). It works wherever the installed tree has been
/// moved to. Returns nothing when the path does not exist, as for a program in a build tree.
std::optional<std::filesystem::path> installed(const std::filesystem::path& place);

}  // namespace howard
