// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace howard {

/// Returns the file or folder beside `path` whose name is closest to its own, for one that was
/// mistyped; absent if none is like it.
std::optional<std::string> neighbour_of(const std::filesystem::path& path);

/// Returns the first `size` bytes of a file, or as many as it has; none if it cannot be read.
std::string beginning_of(const std::filesystem::path& path, std::size_t size);

/// Returns the whole content of a file of settings. People write such files: one of more than 16
/// MiB is something else, and is refused before it is read on. Throws Error for that too.
std::string read_settings_file(const std::filesystem::path& path);

}  // namespace howard
