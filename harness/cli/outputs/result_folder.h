// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/result.h"

namespace howard::cli {

/// Returns what the function below returns, but does not stop at a file that cannot be read or at a
/// point that two files have. It adds a sentence about each to `problems` and reads the rest.
/// Throws Error only if there is no result at all.
std::vector<harness::ExperimentResult> read_results(const std::vector<std::string>& places,
                                                    std::vector<std::string>& problems);

/// Returns the results in these files and in the JSON files of these folders, in the order of their
/// names within a folder. Other JSON files of a folder (profiles that a calibration has left, a
/// trace) are skipped. Throws Error with the reason if a place has no result, if a result cannot be
/// read, or if two files have the same point.
std::vector<harness::ExperimentResult> read_results(const std::vector<std::string>& places);

}  // namespace howard::cli
