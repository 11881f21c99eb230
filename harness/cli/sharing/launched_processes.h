// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Returns how many processes mpirun or srun has started as one job, including this one, or 1
/// without them.
int launched_processes();

}  // namespace howard::cli
