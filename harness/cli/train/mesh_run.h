// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/cli/train/train_options.h"

namespace howard::cli {

/// Trains on the devices of options.plan: each is a thread of this process, or, under mpirun, a
/// process of its own. Rank 0 prints and writes. Returns false if the run was interrupted. Throws
/// Error when a rank fails.
bool train_on_mesh(const TrainOptions& options);

}  // namespace howard::cli
