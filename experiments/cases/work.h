// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engines/program/program.h"

namespace howard::experiments {

/// A call of a work. Its operands have no memory yet.
struct WorkCall {
  std::string_view part;  ///< What it is for: "qkv", "attention".
  Program program;
};

/// Calls that follow each other, some number of times.
struct WorkGroup {
  std::int64_t times = 1;
  std::vector<WorkCall> calls;
};

/// What is asked of a chip, in its order.
using Work = std::vector<WorkGroup>;

}  // namespace howard::experiments
