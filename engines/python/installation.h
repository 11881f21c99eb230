// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace howard::python {

/// Where Python and our scripts are installed.
struct Installation {
  std::filesystem::path interpreter;
  std::filesystem::path folder;  ///< The folder of the scripts, and of the module if it was built.
};

/// Returns what was found when the build was configured, or what the environment says instead:
/// HOWARD_PYTHON (an interpreter) and HOWARD_PYTHON_FOLDER. Returns nothing when there is no
/// interpreter. Throws Error when the environment or the build names a file that does not exist.
std::optional<Installation> find_installation();

}  // namespace howard::python
