// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engines/device/program.h"

namespace howard::workload {

/// Returns the kernels that a call can name: "matmul", "add", "softmax", "move" and so on. "move"
/// copies tiles and stands for every op that brings data to other places.
std::vector<std::string> kernel_names();

/// Parses the attributes of `kernel`, a JSON object. They are transpose_a, transpose_b, core_grid
/// [columns, rows], fidelity and fp32_accumulation for matmul; scalar and core_grid for elementwise
/// kernels; dimension ("columns", "rows", "all") and moreh for sum, mean and max; swap for
/// transpose; heads for heads; fused for gelu_backward; probability and seed for dropout. Throws
/// Error for an unknown kernel or attribute, and for a value that it cannot have.
Attributes parse_attributes(std::string_view kernel, std::string_view json);

/// Returns `name` as text that is kept forever, as the names of timelines must be.
std::string_view kept_name(std::string_view name);

/// Makes the program of a call. Timelines call it `name`, which is kept forever. Throws Error when
/// the operands do not fit the kernel.
Program make_program(std::string_view name, const Attributes& attributes,
                     std::vector<Operand> inputs, std::vector<Operand> outputs);

}  // namespace howard::workload
