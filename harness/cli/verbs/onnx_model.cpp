// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/onnx_model.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/child_process.h"
#include "base/error.h"
#include "engines/python/installation.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/verbs/profile_words.h"

namespace howard::cli {

void record_onnx_model(const std::filesystem::path& model, const std::vector<std::string>& inputs,
                       const chip::ProfileChoice& profiles, const std::filesystem::path& workload) {
  std::error_code missing;
  if (!std::filesystem::exists(model, missing)) {
    throw Error({.attempted = "read " + model.string(),
                 .value = "No such file or directory",
                 .accepted = "an ONNX model"});
  }
  const auto python = python::find_installation();
  if (!python) {
    throw Error({.attempted = "run an ONNX model",
                 .value = "Python is not there",
                 .hint = "to install python3 and python3-onnx, then configure and build anew"});
  }
  if (!python::require_extension(*python, interrupted)) {
    throw Error({.attempted = "build the Python module", .value = "it was stopped"});
  }
  const std::filesystem::path starter = python->folder.parent_path() / "_onnx_model.py";
  std::vector<std::string> words{python->interpreter.string(), starter.string(), model.string(),
                                 "--workload", workload.string()};
  for (const std::string& input : inputs) words.insert(words.end(), {"--input", input});
  std::ranges::move(profile_words(profiles), std::back_inserter(words));
  ChildProcess child({.name = "the ONNX model",
                      .words = std::move(words),
                      .environment = {},
                      .folder = {},
                      .descriptors = {0, 1, 2}});
  constexpr std::chrono::hours kLongest{24};
  const auto status = child.wait(ChildProcess::Clock::now() + kLongest);
  if (status == 0) return;
  throw Error({.attempted = "run the ONNX model " + model.string(),
               .value = status ? ending_of(*status) : "it took a day"});
}

}  // namespace howard::cli
