// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/mesh/communicator.h"
#include "harness/cli/train/train_options.h"
#include "profiler/memory.h"

namespace howard::cli {

/// Writes what the set-up and the first step allocate on each device of a run: DIR/device_N with
/// its tables, buffers and picture. Rank 0 also prints the most that is in use in each phase, a row
/// for each device, and writes it to DIR/memory.md. All ranks call it, each with its own `use`.
void report_mesh_memory(mesh::Communicator& ranks, const profiler::MemoryUse& use,
                        const TrainOptions& options);

}  // namespace howard::cli
