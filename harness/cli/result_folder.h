// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/result.h"

namespace howard::cli {

/// Returns what the function below returns, but does not stop at a file that cannot be read or at a
/// point that two files have. It adds a sentence about each to `problems` and reads the rest.
std::vector<harness::ExperimentResult> read_result_folder(const std::filesystem::path& folder,
                                                          std::vector<std::string>& problems);

/// Returns the results in the JSON files of a folder, in the order of their names. Other JSON files
/// (profiles that a calibration has left, a trace) are skipped. Throws Error with the reason if
/// there is no result, if a result cannot be read, or if two files have the same point.
std::vector<harness::ExperimentResult> read_result_folder(const std::filesystem::path& folder);

}  // namespace howard::cli
