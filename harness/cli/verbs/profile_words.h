// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engines/chip/profiles/profile.h"

namespace howard::cli {

/// Returns the words of a command line that choose the same chip: "--chip", "NAME", "--set", ...
std::vector<std::string> profile_words(const chip::ProfileChoice& choice);

}  // namespace howard::cli
