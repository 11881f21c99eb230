// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/events/program_facts.h"
#include "base/events/timeline_event.h"
#include "base/units.h"
#include "profiler/op_runs.h"
#include "profiler/timeline.h"

namespace howard::profiler {

/// Says when the RISCs of one core were done with a program. All of them start with the kernel.
struct CoreRecord {
  int x = 0, y = 0;  ///< Logical coordinates.
  SimTime reader_end, compute_end, writer_end;
};

/// Describes a program as tt-metal's logs do.
struct OpRecord {
  ProgramRun run;  ///< Its number is that of the launch, from 1.
  std::string name;
  ProgramFacts facts;
  std::vector<CoreRecord> cores;  ///< Sorted by row, then column; empty if they were not recorded.
};

/// Holds what the logs say about the device.
struct DeviceFacts {
  std::string architecture;
  Frequency clock;
  int worker_cores = 0;
};

/// Returns the programs of one device's recorded events, by number.
std::vector<OpRecord> op_records(std::span<const TimelineEvent> events,
                                 const FactsOfProgram& facts);

/// Returns the cycles of `clock` until `time`, to the nearest.
std::int64_t cycles_of(SimTime time, Frequency clock);

/// Returns what the logs call a program; tt-metal keeps the ten low bits for the device.
constexpr std::uint64_t run_host_id(std::uint64_t program) { return program << 10; }

}  // namespace howard::profiler
