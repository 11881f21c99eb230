// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "harness/result.h"

namespace howard::cli {

/// The results in the JSON files of a folder, in the order of their names; other JSON beside them
/// (profiles that a calibration has left, a trace) is passed over. Error, with the reason, when
/// there is none, for a result that can not be read, and for a point that two files have.
std::vector<harness::ExperimentResult> read_result_folder(const std::filesystem::path& folder);

}  // namespace howard::cli
