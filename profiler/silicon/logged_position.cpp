// SPDX-License-Identifier: Apache-2.0
#include "profiler/silicon/logged_position.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "base/check.h"
#include "engines/chip/kernels/planner.h"

namespace howard::profiler {

bool lacks_position(const Program& program) {
  const auto* const attention = std::get_if<DecodeAttentionAttributes>(&program.attributes);
  return attention != nullptr && attention->seen == 0;
}

std::int64_t take_position(Program& program, SimTime measured, CoreGrid grid,
                           const chip::Profiles& profiles) {
  auto* const attention = std::get_if<DecodeAttentionAttributes>(&program.attributes);
  HOWARD_CHECK(attention != nullptr, "only decode attention can lack its position");
  const std::int64_t all = program.inputs[1].spec.shape.tile_rows();
  std::int64_t best = all;
  std::optional<SimTime> smallest;
  const auto look = [&](std::int64_t tiles) {
    attention->seen = tiles * kTileSide;
    const SimTime time = plan_program(program, grid, profiles).kernel.total;
    const SimTime distance = std::max(time, measured) - std::min(time, measured);
    if (smallest && distance >= *smallest) return;
    smallest = distance;
    best = tiles;
  };
  // More places can take less time, since longer chunks are dealt out better: all are looked at, or
  // of a long cache so many, and then those around the best of them.
  constexpr std::int64_t kLooks = 256;
  std::int64_t from = 1, to = all, step = 0;
  do {
    step = ceil_div(to - from + 1, kLooks);
    for (std::int64_t tiles = from; tiles <= to; tiles += step) look(tiles);
    from = std::max<std::int64_t>(1, best - step + 1);
    to = std::min(all, best + step - 1);
  } while (step > 1);
  attention->seen = best * kTileSide;
  return attention->seen;
}

}  // namespace howard::profiler
