// SPDX-License-Identifier: Apache-2.0
#include "engines/python/installation.h"

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace howard::python {
namespace {

namespace fs = std::filesystem;

#ifdef HOWARD_PYTHON
constexpr const char* kInterpreter = HOWARD_PYTHON;
#else
constexpr const char* kInterpreter = "";
#endif

fs::path setting(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

void require(const fs::path& file, const std::string& what, const std::string& variable) {
  std::error_code ignored;
  if (fs::exists(file, ignored)) return;
  throw Error({.attempted = "find " + what,
               .value = "there is no " + file.string(),
               .accepted = "",
               .hint = "a new build, or set " + variable});
}

}  // namespace

std::optional<Installation> find_installation() {
  const Installation found{.interpreter = setting("HOWARD_PYTHON", kInterpreter),
                           .folder = setting("HOWARD_PYTHON_FOLDER", HOWARD_PYTHON_FOLDER)};
  if (found.interpreter.empty()) return std::nullopt;
  require(found.interpreter, "the Python interpreter", "HOWARD_PYTHON");
  require(found.folder / "peer.py", "Howard's Python scripts", "HOWARD_PYTHON_FOLDER");
  return found;
}

}  // namespace howard::python
