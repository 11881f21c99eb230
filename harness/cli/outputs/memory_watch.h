// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/experiment.h"
#include "profiler/memory_recorder.h"
#include "reports/pictures/picture.h"
#include "reports/tables/table.h"

namespace howard::cli {

/// Returns the tables of `use` with `title` in their captions.
std::vector<reports::Table> memory_tables(const profiler::MemoryUse& use, const std::string& title);

/// Writes memory.md (the tables), buffers.csv (every buffer's lifetime) and a picture into the
/// canvas's folder. Throws Error if that fails.
void write_memory(const profiler::MemoryUse& use, const std::vector<reports::Table>& tables,
                  const std::string& title, const reports::Canvas& canvas);

/// Implements --memory, and the timeline of a page: it sets a point up once more and runs one more
/// iteration, while the device reports what it allocates.
class MemoryWatch {
 public:
  /// The emulated chips and the host device report to these sinks. Outside of record() the sinks
  /// are closed, so ordinary points of a run report nothing, from any thread.
  MemorySink* chip() { return &chip_; }
  MemorySink* host() { return &host_; }

  /// Throws Error if the point cannot be set up or fails. With a `trace`, the experiment's warm-up
  /// runs first, and the trace receives what happens in the iteration after it.
  profiler::MemoryUse record(const harness::Experiment& experiment,
                             const harness::PointResult& point, EventSink* trace = nullptr);

 private:
  profiler::MemoryRecorder chip_, host_;
};

}  // namespace howard::cli
