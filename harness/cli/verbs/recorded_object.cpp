// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/recorded_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/child_process.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engines/python/installation.h"
#include "harness/cli/command/option.h"
#include "harness/cli/terminal/interruption.h"
#include "harness/cli/verbs/onnx_model.h"
#include "harness/cli/verbs/profile_words.h"
#include "harness/cli/verbs/ttnn_module.h"

namespace howard::cli {
namespace {

namespace fs = std::filesystem;

void record_script(const fs::path& script, const Recording& recording, const fs::path& workload) {
  const auto python = python::find_installation();
  if (!python) {
    throw Error({.attempted = "run a Python script",
                 .value = "Python is not there",
                 .hint = "to install python3, then configure and build anew"});
  }
  if (!python::require_extension(*python, interrupted)) {
    throw Error({.attempted = "build the Python module", .value = "it was stopped"});
  }
  std::error_code ignored;
  fs::remove(workload, ignored);  // that of an earlier run
  std::vector<std::string> words{python->interpreter.string(),
                                 (python->folder.parent_path() / "_script.py").string()};
  std::ranges::move(profile_words(recording.profiles), std::back_inserter(words));
  words.insert(words.end(), {"--workload", workload.string(), "--", script.string()});
  ChildProcess child({.name = "the script",
                      .words = std::move(words),
                      .environment = {},
                      .folder = {},
                      .descriptors = {0, 2, 2}});
  constexpr std::chrono::hours kLongest{24};
  const auto status = child.wait(ChildProcess::Clock::now() + kLongest);
  const auto fail = [&](std::string why, std::string hint) {
    throw Error(
        {.attempted = "run " + script.string(), .value = std::move(why), .hint = std::move(hint)});
  };
  if (status != 0) {
    fail(status ? ending_of(*status) : "it took a day",
         fmt::format("run_experiment python --save-workload W.json {} ARGUMENTS, if it takes some, "
                     "and run_experiment tune W.json",
                     shell_word(script.string())));
  }
  if (!fs::exists(workload, ignored)) fail("it opened no chip of ttnn", "");
}

}  // namespace

bool is_recorded(ObjectKind kind) {
  return kind == ObjectKind::script || kind == ObjectKind::onnx || kind == ObjectKind::mlir;
}

fs::path recorded(const Object& object, const Recording& recording) {
  HOWARD_CHECK(is_recorded(object.kind), "the others are programs already");
  if (object.kind != ObjectKind::onnx && !recording.inputs.empty()) {
    throw UsageError("--input is of ONNX models; try MODEL.onnx --input x=1x3x224x224");
  }
  require_writable_folder(recording.results);
  const fs::path workload = recording.results / (object.path.stem().string() + ".workload.json");
  if (object.kind == ObjectKind::script) {
    record_script(object.path, recording, workload);
  } else if (object.kind == ObjectKind::mlir) {
    record_ttnn_module(object.path, workload);
  } else {
    record_onnx_model(object.path, recording.inputs, recording.profiles, workload);
  }
  return workload;
}

}  // namespace howard::cli
