// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
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

/// Has the package's extension built, if it is not there and the environment names the launcher
/// that can (HOWARD_LAUNCHER): ./run_experiment leaves it out of a first build. Returns at once if
/// the extension is there or nobody can build it: who imports it says what is missing. `stop` says
/// whether the user wants to stop; returns false if so. Throws Error when the build fails.
bool build_extension(const Installation& python, const std::function<bool()>& stop);

/// Does the same for who cannot go on without the extension: throws Error when it is not there
/// then, which says how to build it.
bool require_extension(const Installation& python, const std::function<bool()>& stop);

}  // namespace howard::python
