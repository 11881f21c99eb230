// SPDX-License-Identifier: Apache-2.0
//
// This is for a build without MPI, in which there is only one process.

#include "base/error.h"
#include "harness/cli/sharing/process_ranks.h"

namespace howard::cli {

void run_as_processes(int /*size*/,
                      const std::function<void(mesh::Communicator& ranks)>& /*work*/) {
  throw Error({.attempted = "train in several processes",
               .value = "this build has no MPI",
               .accepted = "one process, in which each device has a thread",
               .hint = "without mpirun, or install libopenmpi-dev and configure the build again"});
}

}  // namespace howard::cli
