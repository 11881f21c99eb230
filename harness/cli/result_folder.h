// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "harness/result.h"

namespace howard::cli {

/// Returns the results in the JSON files of a folder, in the order of their names. Other JSON files
/// (profiles that a calibration has left, a trace) are skipped. Error with the reason if there is
/// no result, if a result cannot be read, or if two files have the same point.
std::vector<harness::ExperimentResult> read_result_folder(const std::filesystem::path& folder);

}  // namespace howard::cli
