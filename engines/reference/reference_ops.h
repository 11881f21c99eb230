// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engines/program/program.h"

namespace howard::reference {

using Values = std::vector<double>;

/// Computes what `program` writes to each of its outputs, given the values of its inputs.
std::vector<Values> compute(const Program& program, const std::vector<const Values*>& inputs);

}  // namespace howard::reference
