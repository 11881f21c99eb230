// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/cli/session.h"
#include "harness/cli/sharing/ranks.h"
#include "harness/point_queue.h"

namespace howard::cli {

/// On the first rank: hands points of `queue`, of the experiment at `index` of what is planned, to
/// the other ranks until none is left, and takes back what has become of them.
void hand_out(Ranks& ranks, int index, harness::PointQueue& queue);

/// On each other rank: runs what the first one hands out of these experiments on `threads` threads,
/// until it is done.
void take_part(Ranks& ranks, const std::vector<PlannedExperiment>& planned, int threads);

}  // namespace howard::cli
