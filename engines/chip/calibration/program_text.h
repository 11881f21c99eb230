// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "engines/device/device.h"
#include "engines/device/program.h"

namespace howard::calibration {

/// Parses a program of a table: an op, the shapes of its operands, and words that say more.
///
///     matmul 32x1280 1280x1280 HiFi4 fp32     transposed operands: ta, tb
///     add 1024x512 1x512                      also subtract, multiply; a scalar operand: scalar
///     exp 2048x32                             every elementwise op of one operand
///     mean_columns 1024x512                   sum, mean, max over columns, rows or batch
///     transpose 20x32x64
///
/// The operands are allocated on `device` and released again, so the program can be planned but not
/// run. Throws Error when the text is none of these, or the op refuses the shapes.
Program parse_program(std::string_view text, DataType dtype, Device& device);

}  // namespace howard::calibration
