// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engines/program/program.h"
#include "experiments/axes/axes.h"
#include "experiments/laboratory/devbox.h"
#include "harness/what_if.h"

namespace howard::experiments {

// These are changes that several experiments offer to try, and the axes that they need.

/// Sets `axis` to `value`. It is not tried, for the given reason, if the point already has that
/// value.
template <class T>
harness::WhatIf set_axis(std::string what, const Point& point, const TypedAxis<T>& axis,
                         const std::type_identity_t<T>& value, std::string already) {
  const bool is_so =
      (point.has(axis) || !axis.neutral.empty()) && axis.print(point[axis]) == axis.print(value);
  if (is_so) return {std::move(what), {}, std::move(already)};
  return {std::move(what), {{axis.at(value)}}, {}};
}

/// Adds a change to each of the axis's choices that is not the point's.
template <class T>
void add_other_choices(const Point& point, const TypedAxis<T>& axis,
                       std::vector<harness::WhatIf>& changes) {
  const std::string own = axis.print(point[axis]);
  for (const std::string& word : axis.choices) {
    if (word != own) changes.push_back({axis.name + " " + word, {{{axis.name, word}}}, {}});
  }
}

/// Dispatches programs from the Ethernet cores, which leaves 8x8 cores to compute.
harness::WhatIf eth_dispatch(const Point& point);

/// Tries sizes somewhat above that of `axis`, in multiples of `unit` elements, which are whole
/// tiles. `with` makes the value of the axis from a size.
harness::WhatIf pad(std::string what, std::string_view axis, std::int64_t size,
                    const std::function<std::string(std::int64_t)>& with,
                    std::int64_t unit = kTileSide);
/// Does the same for a count axis.
harness::WhatIf pad_count(const Point& point, const TypedAxis<std::int64_t>& axis,
                          std::int64_t unit = kTileSide);

/// Tries core grids of most, or half, of the columns and rows of `all`. Products keep `fidelity`,
/// which ttnn lowers if a caller gives a grid, where the point leaves it to ttnn.
harness::WhatIf core_grids(const Point& point, CoreGrid all, std::optional<MathFidelity> fidelity);

/// Adds the last axes of training steps: on the host dtype; on the chip dispatch, and grid, fused
/// and queues, which are left out of points that do not ask for them.
void add_training_axes(std::vector<harness::Axis>& axes, harness::Backend backend,
                       const std::vector<std::string>& dispatch);
/// Serves points with the axes engine (dynamic, static, traced), dispatch and those above.
std::vector<harness::WhatIf> training_what_ifs(const DevBox& box, const Point& point);

}  // namespace howard::experiments
