// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "engines/device/device.h"
#include "harness/cli/session.h"
#include "reports/tables/table.h"

namespace howard::cli {

/// Returns tables of what bounds one iteration of each recorded point: by op, by the stages of
/// kernels, and the critical path. `open_host` returns the host engine. Its peaks are measured
/// there for the first host point, which takes half a second.
std::vector<reports::Table> bottleneck_tables(const std::deque<TracedPoint>& points,
                                              const std::function<Device&()>& open_host);

}  // namespace howard::cli
