// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace howard::python {

/// Says where Python and our scripts are installed.
struct Installation {
  std::filesystem::path interpreter;
  std::filesystem::path folder;  ///< The folder of the scripts, and of the module if it was built.
};

/// Finds Python and our scripts. The interpreter is the one that was found when the build was
/// configured. The folder is the one that was installed with the running program, or else that of
/// the build. The environment may name others: HOWARD_PYTHON, an interpreter, and
/// HOWARD_PYTHON_FOLDER. Returns nothing when there is no interpreter. Throws Error when the
/// environment or the build names a file that is not there.
std::optional<Installation> find_installation();

}  // namespace howard::python
