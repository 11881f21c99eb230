// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engines/chip/profiles/profile.h"
#include "harness/cli/objects/object.h"

namespace howard::cli {

/// Says how an object is made a program.
struct Recording {
  std::vector<std::string> inputs;  ///< The shapes of the inputs of an ONNX model: "x=1x3x224x224".
  chip::ProfileChoice profiles;
  std::filesystem::path results;  ///< The folder of the workload.
};

/// Returns whether it is a script, an ONNX model or a module, which become programs.
bool is_recorded(ObjectKind kind);

/// Records what such an object asks of a chip: a script's run, whose output goes to standard error,
/// the inference of a model, the functions of a module. Returns the file of the workload. Throws
/// Error if it fails.
std::filesystem::path recorded(const Object& object, const Recording& recording);

}  // namespace howard::cli
