// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/sharing/launched_processes.h"

#include <array>
#include <cstdlib>

#include "base/text.h"

namespace howard::cli {

int launched_processes() {
  // These are set by Open MPI's mpirun, by launchers that speak PMI, and by srun even without a
  // plugin for MPI. SLURM_NTASKS would not do, because it is also set if one process of a batch
  // script runs alone.
  constexpr std::array kSizes{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
  for (const char* const name : kSizes) {
    const char* const text = std::getenv(name);
    const auto size = text != nullptr ? parse_integer(text) : std::nullopt;
    if (size && *size >= 1 && *size <= 1'000'000) return static_cast<int>(*size);
  }
  return 1;
}

}  // namespace howard::cli
