// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// How many processes mpirun or srun has started as one job, this one among them; 1 without them.
int launched_processes();

}  // namespace howard::cli
