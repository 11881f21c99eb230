// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/program/program.h"

namespace howard::chip {

/// Names what a kernel spends most of its time on.
enum class Bottleneck : std::uint8_t {
  start,          ///< Starting the kernel and filling the pipeline.
  in0_reads,      ///< Reading the first operand from DRAM (and multicasting it).
  in1_reads,      ///< Reading the second operand from DRAM (and multicasting it).
  math,           ///< The matrix unit or the vector unit.
  unpack,         ///< Feeding the matrix unit from L1.
  output_writes,  ///< Writing the result to DRAM.
  dram            ///< The DRAM's bandwidth, which all cores share.
};

/// Returns "kernel start", "in0 reads", "in1 reads", "math", "unpack", "output writes" or "DRAM
/// bandwidth".
std::string_view name_of(Bottleneck bottleneck);

/// The times of a kernel on its busiest core, since the kernel's start. Reader, compute and writer
/// run as a pipeline, so their spans overlap.
struct KernelCost {
  SimTime compute_start;  ///< The first input has arrived.
  SimTime reads_end;
  SimTime first_write;
  SimTime math_end;
  SimTime total;
  /// The time that it would take if the DRAM gave each core all it asks for. A skew of the cores'
  /// starts comes on top of this, and hides in the rest.
  SimTime unshared;

  Bytes dram;     ///< Bytes read and written by all cores together.
  CoreGrid grid;  ///< The cores are numbered along the rows of this grid, from the first row.
  int cores = 0;  ///< How many cores have work.
  Bottleneck bottleneck{};
};

}  // namespace howard::chip
