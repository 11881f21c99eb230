// SPDX-License-Identifier: Apache-2.0
#include "engines/python/installation.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>

#include "base/child_process.h"
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

/// Returns whether the extension lies in the package, under whatever name this Python gives it.
bool has_extension(const fs::path& package) {
  std::error_code ignored;
  return std::ranges::any_of(fs::directory_iterator(package, ignored), [](const auto& file) {
    return file.path().filename().string().starts_with("_native.") &&
           file.path().extension() == ".so";
  });
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

bool build_extension(const Installation& python, const std::function<bool()>& stop) {
  const fs::path launcher = setting("HOWARD_LAUNCHER", "");
  if (launcher.empty() || has_extension(python.folder.parent_path())) return true;
  // What it says goes to standard error, because standard output belongs to results.
  ChildProcess build({.name = "the build of the Python module",
                      .words = {"/usr/bin/env", "HOWARD_BUILD=python_module", launcher.string()},
                      .environment = {},
                      .folder = {},
                      .descriptors = {0, 2, 2}});
  constexpr std::chrono::milliseconds kLook{100};
  std::optional<int> status;
  bool stopped = false;
  while (!(status = build.wait(ChildProcess::Clock::now() + kLook))) {
    if (stopped || !stop || !stop()) continue;
    build.signal_all(SIGINT);
    stopped = true;
  }
  if (*status == 0 || stopped) return !stopped;
  throw Error({.attempted = "build the Python module",
               .value = ending_of(*status),
               .hint = "again when what it says above is mended"});
}

bool require_extension(const Installation& python, const std::function<bool()>& stop) {
  if (!build_extension(python, stop)) return false;
  const fs::path package = python.folder.parent_path();
  if (has_extension(package)) return true;
  throw Error({.attempted = "use the Python module",
               .value = "there is none in " + package.string(),
               .hint = "cmake --build with --target python_module, which needs the packages "
                       "python3-dev and pybind11-dev when the build is configured"});
}

}  // namespace howard::python
