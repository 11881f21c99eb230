// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/device/program.h"

namespace howard::reference {

using Values = std::vector<double>;

/// What `program` writes to each of its outputs, given its inputs.
std::vector<Values> compute(const Program& program, const std::vector<const Values*>& inputs);

}  // namespace howard::reference
