// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/ttnn_names.h"

#include <fmt/format.h>

namespace howard::chip {

std::string ttnn_chain(std::span<const EltwiseStep> steps) {
  std::string chain;
  for (const EltwiseStep& step : steps) {
    const EltwiseEntry& entry = entry_of(step.function);
    chain += fmt::format("{}BasicUnaryWithParam<float>(op_type=UnaryOpType::{};param={{{}",
                         chain.empty() ? "" : "; ", entry.ttnn, step.numbers[0]);
    if (entry.numbers == 2) chain += fmt::format(";{}", step.numbers[1]);
    chain += "})";
  }
  return chain;
}

std::string ttnn_text(const std::optional<CoreGrid>& grid) {
  return grid ? fmt::format("(x={};y={})", grid->columns, grid->rows) : "std::nullopt";
}

std::string ttnn_range_text(CoreGrid grid) {
  return fmt::format("{{[(x=0;y=0) - (x={};y={})]}}", grid.columns - 1, grid.rows - 1);
}

}  // namespace howard::chip
