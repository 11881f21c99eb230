// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engines/device/program.h"

namespace howard::workload {

/// The kernels that a call can name: "matmul", "add", "softmax", "move", ... "move" copies tiles
/// and stands for whatever brings data to other places.
std::vector<std::string> kernel_names();

/// The attributes of `kernel`, of a JSON object: for matmul transpose_a, transpose_b, core_grid
/// [columns, rows], fidelity, fp32_accumulation; for elementwise kernels scalar, core_grid; for
/// sum, mean, max dimension ("columns", "rows", "all"), moreh; for transpose swap; for heads
/// heads; for gelu_backward fused; for dropout probability and seed. Error for a kernel or an
/// attribute that there is not, or a value that it can not have.
Attributes parse_attributes(std::string_view kernel, std::string_view json);

/// `name` as text that is kept for ever, as what timelines call things must be.
std::string_view kept_name(std::string_view name);

/// The program of a call. `name` is what timelines call it; it is kept for ever. Error when the
/// operands do not fit the kernel.
Program make_program(std::string_view name, const Attributes& attributes,
                     std::vector<Operand> inputs, std::vector<Operand> outputs);

}  // namespace howard::workload
