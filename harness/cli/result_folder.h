// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/result.h"

namespace howard::cli {

/// As below, but a file that cannot be read, and a point that two files have, is put into
/// `problems`, a sentence each, and the rest is read.
std::vector<harness::ExperimentResult> read_result_folder(const std::filesystem::path& folder,
                                                          std::vector<std::string>& problems);

/// The results in the JSON files of a folder, in the order of their names; other JSON beside them
/// (profiles that a calibration has left, a trace) is passed over. Error, with the reason, when
/// there is none, for a result that can not be read, and for a point that two files have.
std::vector<harness::ExperimentResult> read_result_folder(const std::filesystem::path& folder);

}  // namespace howard::cli
