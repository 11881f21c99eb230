// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/cli/session.h"
#include "harness/cli/sharing/ranks.h"
#include "harness/point_queue.h"

namespace howard::cli {

/// Runs on the first rank. It hands points of `queue`, which belongs to the planned experiment at
/// `index`, to the other ranks until none is left, and takes back their results.
void hand_out(Ranks& ranks, int index, harness::PointQueue& queue);

/// Runs on each other rank. It runs the points of these experiments that the first rank hands out,
/// on `threads` threads, until the first rank is done.
void take_part(Ranks& ranks, const std::vector<PlannedExperiment>& planned, int threads);

}  // namespace howard::cli
