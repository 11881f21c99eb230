// SPDX-License-Identifier: Apache-2.0
#include "engines/python/installation.h"

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/installed.h"

namespace howard::python {
namespace {

namespace fs = std::filesystem;

#ifdef HOWARD_PYTHON
constexpr const char* kInterpreter = HOWARD_PYTHON;
#else
constexpr const char* kInterpreter = "";
#endif

fs::path setting(const char* variable, const fs::path& otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? fs::path(value) : otherwise;
}

/// Returns the folder of the scripts: the one that was installed with the running program, or else
/// that of the build.
fs::path built_in_folder() {
  return installed(HOWARD_INSTALLED_PYTHON_FOLDER).value_or(HOWARD_PYTHON_FOLDER);
}

void require(const fs::path& file, const std::string& what, const std::string& variable) {
  std::error_code ignored;
  if (fs::exists(file, ignored)) return;
  throw Error({.attempted = "find " + what,
               .value = "there is no " + file.string(),
               .hint = "a new build, or set " + variable});
}

}  // namespace

std::optional<Installation> find_installation() {
  const Installation found{.interpreter = setting("HOWARD_PYTHON", kInterpreter),
                           .folder = setting("HOWARD_PYTHON_FOLDER", built_in_folder())};
  if (found.interpreter.empty()) return std::nullopt;
  require(found.interpreter, "the Python interpreter", "HOWARD_PYTHON");
  require(found.folder / "peer.py", "Howard's Python scripts", "HOWARD_PYTHON_FOLDER");
  return found;
}

}  // namespace howard::python
