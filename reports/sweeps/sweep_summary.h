// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/presentation.h"
#include "harness/result.h"
#include "reports/tables/table.h"

namespace howard::reports {

/// Returns what a sweep of constants has found, for each combination of the other axes: the best
/// and the worst point; the elasticity of the time to each constant; the Pareto front of the time
/// and the first metric of the presentation's columns that trades against it; and where the bound
/// changes. Each table says in a note how its numbers are made. Unless `all_rows` is set, a long
/// table is cut and says so. There are no tables without swept constants or emulated times.
std::vector<Table> sweep_tables(const harness::ExperimentResult& result,
                                const harness::Presentation& presentation, bool all_rows);

}  // namespace howard::reports
