// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/kernels/plan/planned_program.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/program.h"

namespace howard::chip {

// The times are those of tt-metal's all_gather_async and reduce_scatter_minimal_async from their
// start on all chips. The method is in docs/method/ops.md, "Several chips".

/// The most that a packet of the links carries: two tiles of bfloat16.
inline constexpr Bytes kLinkPacket{4096};

/// Chips on a line or a ring, and what they exchange. A line may have more hops than they need, if
/// chips between them take no part; the hops of a ring follow from its chips.
struct ChipLine {
  int chips = 1;
  int hops = 0;
  Bytes whole;  ///< The tensor of all chips together; each has a share of it.
  LinkUse use{};
  Bytes packet = kLinkPacket;  ///< What a packet carries: two pages, of tiles or of rows.
  std::int64_t passes = 1;     ///< A reduce_scatter on a ring sends its batches one after another.
  bool is_prepared = false;    ///< Shards in L1 go to buffers that were made before.
};

/// Returns the time in which each chip gets the shares of all.
SimTime all_gather_time(const CollectiveCosts& costs, const ChipLine& line);

/// Returns the time in which each chip gets its share of the sum of all chips' tensors.
SimTime reduce_scatter_time(const CollectiveCosts& costs, const ChipLine& line);

/// Returns the time in which each chip gets what each of the others has for it, `each` bytes.
SimTime all_to_all_time(const CollectiveCosts& costs, const ChipLine& line, Bytes each);

/// Returns what is dispatched to each chip: the workers, senders and receivers of both directions.
Footprint collective_footprint(bool gathers, const ChipLine& line, const Profiles& profiles);

/// Returns what the program's chips exchange: an all_gather, or else a reduce_scatter. How many
/// chips there are follows from the tensors.
ChipLine line_of(const Program& program, bool gathers, const LinkUse& use);

}  // namespace howard::chip
