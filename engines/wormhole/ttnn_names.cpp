// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/ttnn_names.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace howard::wormhole {

std::string_view ttnn_name(Eltwise function) {
  // These are in the order of Eltwise.
  constexpr std::array<std::string_view, 14> kNames{"ADD",    "SUB",   "MUL",      "RELU", "GTZ",
                                                    "SQUARE", "EXP",   "ERF",      "GELU", "SQRT",
                                                    "RSQRT",  "RECIP", "TYPECAST", "FILL"};
  static_assert(kNames.size() == static_cast<std::size_t>(Eltwise::fill) + 1);
  return kNames.at(static_cast<std::size_t>(function));
}

std::string ttnn_text(const std::optional<CoreGrid>& grid) {
  return grid ? fmt::format("(x={};y={})", grid->columns, grid->rows) : "std::nullopt";
}

std::string ttnn_range_text(CoreGrid grid) {
  return fmt::format("{{[(x=0;y=0) - (x={};y={})]}}", grid.columns - 1, grid.rows - 1);
}

}  // namespace howard::wormhole
