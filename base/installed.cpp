// SPDX-License-Identifier: Apache-2.0
#include "base/installed.h"

namespace howard {

namespace fs = std::filesystem;

std::optional<fs::path> installed(const fs::path& place) {
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  if (failure) return std::nullopt;
  // HOWARD_PREFIX_FROM_PROGRAM leads from the folder of programs to the prefix: ".." from bin.
  const fs::path found =
      (program.parent_path() / HOWARD_PREFIX_FROM_PROGRAM / place).lexically_normal();
  if (!fs::exists(found, failure)) return std::nullopt;
  return found;
}

}  // namespace howard
