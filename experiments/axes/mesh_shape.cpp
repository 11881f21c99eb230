// SPDX-License-Identifier: Apache-2.0
#include "experiments/axes/mesh_shape.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace howard::experiments {

MeshShape parse_mesh(std::string_view value) {
  const std::vector<std::string> words = split(value, 'x');
  std::array<int, 3> sides{1, 1, 1};
  constexpr std::int64_t kMostChips = 1024;
  bool fits = words.size() <= sides.size();
  for (std::size_t i = 0; fits && i < words.size(); ++i) {
    const auto side = parse_integer(words[i]);
    fits = side && *side >= 1 && *side <= kMostChips;
    if (fits) sides.at(i) = static_cast<int>(*side);
  }
  const MeshShape mesh{sides[0], sides[1], sides[2]};
  if (fits && std::int64_t{mesh.ddp} * mesh.tp * mesh.pp <= kMostChips) return mesh;
  throw Error({.attempted = "set axis mesh",
               .value = "'" + std::string(value) + "'",
               .accepted = "DDPxTPxPP, of 1024 chips at most",
               .hint = "-a mesh=2x4x1"});
}

std::string mesh_text(const MeshShape& mesh) {
  return fmt::format("{}x{}x{}", mesh.ddp, mesh.tp, mesh.pp);
}

}  // namespace howard::experiments
