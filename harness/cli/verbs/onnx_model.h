// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engines/chip/profiles/profile.h"

namespace howard::cli {

/// Runs the inference of an ONNX model on the stand-in for ttnn, in Python, and leaves what it
/// asked for in `workload`. The parts of the model that are left out are named on standard error.
/// `inputs` has the shapes of inputs, as in "x=1x3x224x224". Throws Error when the model cannot be
/// run; the reason was then said.
void record_onnx_model(const std::filesystem::path& model, const std::vector<std::string>& inputs,
                       const chip::ProfileChoice& profiles, const std::filesystem::path& workload);

}  // namespace howard::cli
