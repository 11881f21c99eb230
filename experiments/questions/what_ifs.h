// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/device/program.h"
#include "experiments/laboratory/devbox.h"
#include "harness/axis.h"
#include "harness/what_if.h"

namespace howard::experiments {

// These are changes that several experiments offer to try, and the axes that they need.

/// Sets `axis` to `value`. It is not tried, for the given reason, if the point already has that
/// value.
harness::WhatIf set_axis(std::string what, const harness::Parameters& parameters,
                         std::string_view axis, std::string_view value, std::string already);

/// Dispatches programs from the Ethernet cores, which leaves 8x8 cores to compute.
harness::WhatIf eth_dispatch(const harness::Parameters& parameters);

/// Tries sizes somewhat above that of `axis`, in multiples of `unit` elements, which are whole
/// tiles. `with` makes the value of the axis from a size.
harness::WhatIf pad(std::string what, std::string_view axis, std::int64_t size,
                    const std::function<std::string(std::int64_t)>& with,
                    std::int64_t unit = kTileSide);
/// Does the same for a count axis.
harness::WhatIf pad_count(const harness::Parameters& parameters, std::string_view axis,
                          std::int64_t unit = kTileSide);

/// Tries core grids of most, or half, of the columns and rows of `all`. Products keep `fidelity`,
/// which ttnn lowers if a caller gives a grid, provided that the point has an axis for it.
harness::WhatIf core_grids(const harness::Parameters& parameters, CoreGrid all,
                           std::string_view fidelity);

/// Has "yes" and "no" as values and is left out of points that do not ask for it. With "yes" a
/// trace is replayed.
harness::Axis trace_axis();
/// Has 1 and 2 as values and is left out of points that do not ask for it.
harness::Axis queues_axis(std::string meaning);

/// Adds the last axes of training steps: on the host dtype; on the chip dispatch, and grid, fused
/// and queues, which are left out of points that do not ask for them.
void add_training_axes(std::vector<harness::Axis>& axes, harness::Backend backend,
                       const std::vector<std::string>& dispatch);
/// Serves points with the axes engine (dynamic, static, traced), dispatch and those above.
std::vector<harness::WhatIf> training_what_ifs(const DevBox& box,
                                               const harness::Parameters& parameters);

}  // namespace howard::experiments
