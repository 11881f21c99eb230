// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/device/program.h"
#include "experiments/workloads/devbox.h"
#include "harness/axis.h"
#include "harness/what_if.h"

namespace howard::experiments {

// Changes that several experiments offer to try, and the axes they need.

/// Sets `axis` to `value`; not tried, for the reason given, where a point has that value.
harness::WhatIf set_axis(std::string what, const harness::Parameters& parameters,
                         std::string_view axis, std::string_view value, std::string already);

/// Programs dispatched from the Ethernet cores, which leaves 8x8 to compute.
harness::WhatIf eth_dispatch(const harness::Parameters& parameters);

/// Sizes somewhat above that of `axis`, multiples of `unit` elements, itself whole tiles: `with`
/// makes an axis' value of one.
harness::WhatIf pad(std::string what, std::string_view axis, std::int64_t size,
                    const std::function<std::string(std::int64_t)>& with,
                    std::int64_t unit = kTileSide);
/// For a count axis.
harness::WhatIf pad_count(const harness::Parameters& parameters, std::string_view axis,
                          std::int64_t unit = kTileSide);

/// Core grids of most, or half of, the columns and rows of `all`. Products keep `fidelity`, which
/// ttnn lowers where a caller gives a grid, when the point has an axis for it.
harness::WhatIf core_grids(const harness::Parameters& parameters, CoreGrid all,
                           std::string_view fidelity);

/// "yes" or "no", left out of points that do not ask: a trace is replayed.
harness::Axis trace_axis();
/// 1 or 2, left out of points that do not ask.
harness::Axis queues_axis(std::string meaning);

/// The last axes of training steps. On the host dtype; on the chip dispatch, and grid, config,
/// fused and queues, which points that do not ask leave out.
void add_training_axes(std::vector<harness::Axis>& axes, harness::Backend backend,
                       const std::vector<std::string>& dispatch);
/// For points with axes engine (dynamic, static, traced), dispatch and those.
std::vector<harness::WhatIf> training_what_ifs(const DevBox& box,
                                               const harness::Parameters& parameters);

}  // namespace howard::experiments
