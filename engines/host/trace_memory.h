// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "engines/host/trace_fusion.h"
#include "engines/program/program.h"

namespace howard::host {

/// A trace in which each intermediate has a buffer name of its own. Programs that only reused the
/// same memory one after the other no longer depend on each other.
struct RenamedTrace {
  std::vector<Program> programs;
  /// The new names, which no device has given out, and their sizes.
  std::map<BufferId, Bytes> intermediates;
  std::vector<BufferId> spare;  ///< Buffers that the trace used for nothing else.
  /// The programs whose bfloat16 result is held as float32; every reader then reads float32.
  std::set<std::size_t> wide;
};

/// Renames intermediates; trace_fusion.h defines what an intermediate is.
RenamedTrace with_own_names(std::span<const Program> trace);

/// Marks the bfloat16 intermediates that are factors of products to be held as float32. This is for
/// a CPU that multiplies float32 and would have to widen them for each product.
void widen_factors(RenamedTrace& trace);

/// Chooses a buffer for each intermediate that is stored when `groups` run in their order: the
/// buffer of an intermediate that it replaces element by element, a spare one that is free at that
/// time, or a new one from `allocate`. `size_of` returns the size of a spare buffer.
std::map<BufferId, BufferId> buffers_for(const RenamedTrace& trace,
                                         std::span<const FusedPrograms> groups,
                                         const std::function<Bytes(BufferId)>& size_of,
                                         const std::function<BufferId(Bytes)>& allocate);

}  // namespace howard::host
