// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engines/chip/profiles/profile.h"

namespace howard::chip {

/// Returns the options of a command line that choose the same: " --chip my.json --set a.b=1us".
/// Throws Error for a profile that cannot be read.
std::string options_text(const ProfileChoice& choice);

}  // namespace howard::chip
