// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engines/mesh/communicator.h"

namespace howard::cli {

/// Calls `work` in each of the processes that mpirun or srun has started, `size` of them, each of
/// which is a rank. Ranks (ranks.h) must exist: they have joined the processes. A rank that fails
/// says why and ends the others; one that dies is noticed by the launcher, which ends them. Throws
/// Error for another number of processes, and when this build has no MPI.
void run_as_processes(int size, const std::function<void(mesh::Communicator& ranks)>& work);

}  // namespace howard::cli
