// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engines/program/program.h"

namespace howard::workload {

/// Returns the kernels that a call can name, in their order: all ops (engines/program). "move"
/// copies tiles and stands for every op that brings data to other places.
std::vector<std::string> kernel_names();

/// Returns `name` as text that is kept forever, as the names of timelines must be.
std::string_view kept_name(std::string_view name);

/// Makes the program of a call. Timelines call it `name`, which is kept forever. Throws Error,
/// naming the operand, when the operands do not fit the kernel.
Program make_launch(std::string_view name, const Attributes& attributes,
                    std::vector<Operand> inputs, std::vector<Operand> outputs);

}  // namespace howard::workload
