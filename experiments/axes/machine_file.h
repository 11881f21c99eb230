// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiments/axes/machines.h"

namespace howard::experiments {

/// Returns the machine that a JSON file describes, which is read once. Its members are `chip` (a
/// built-in profile, "wormhole_b0_n300"), `chips` (1 to 32) and, where they are not 1, 0 and false:
/// `group` (chips that hold a model together; it divides `chips`), `ring` (groups of as many chips
/// and more are wired as a ring), `remote_chips` (every second chip is reached through the one
/// beside it). The machine lives as long as the program. Throws Error for a file that cannot be
/// read, and for members that it does not know or that contradict each other.
const Machine& machine_in(const std::string& file);

}  // namespace howard::experiments
