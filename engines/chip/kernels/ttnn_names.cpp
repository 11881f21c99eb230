// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/ttnn_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace howard::chip {
namespace {

template <std::size_t Count>
bool has_any(std::string_view name, const std::array<std::string_view, Count>& words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace

bool moves_elements(std::string_view operation) {
  constexpr std::array<std::string_view, 9> kWords{"Tilize",    "tilize",  "Reshape",
                                                   "Transpose", "Permute", "Sharded",
                                                   "Reshard",   "Copy",    "ToLayout"};
  return has_any(operation, kWords);
}

bool picks_elements(std::string_view operation) {
  return has_any(operation,
                 std::array<std::string_view, 4>{"Embedding", "Slice", "Split", "Gather"});
}

bool is_product(std::string_view operation) {
  return operation.find(operation::kMatmul) != std::string_view::npos;
}

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
