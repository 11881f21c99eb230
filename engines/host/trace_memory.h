// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "engines/device/program.h"
#include "engines/host/trace_fusion.h"

namespace howard::host {

/// A trace whose intermediates have names of their own: programs that only wrote to one place, one
/// after the other, no longer depend on each other.
struct RenamedTrace {
  std::vector<Program> programs;
  std::map<BufferId, Bytes> intermediates;  ///< The new names, which no device has given.
  std::vector<BufferId> spare;              ///< Buffers that the trace used for nothing else.
  /// Of programs: their result, bfloat16, is held as float32, which all that read it read.
  std::set<std::size_t> wide;
};

/// What is an intermediate: as trace_fusion.h says.
RenamedTrace with_own_names(std::span<const Program> trace);

/// Has intermediates of bfloat16 held as float32 that are factors of products: for a CPU that
/// multiplies float32 and would have to widen them for each.
void widen_factors(RenamedTrace& trace);

/// A buffer for each intermediate that is stored when `groups` run in their order: that of one
/// which it replaces element by element, a spare one that nobody needs at the time, or one that
/// `allocate` gives. `size_of` says how large a spare one is.
std::map<BufferId, BufferId> buffers_for(const RenamedTrace& trace,
                                         std::span<const FusedPrograms> groups,
                                         const std::function<Bytes(BufferId)>& size_of,
                                         const std::function<BufferId(Bytes)>& allocate);

}  // namespace howard::host
