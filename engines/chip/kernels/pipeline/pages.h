// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/chip/profiles/profile.h"
#include "engines/program/tensor_spec.h"

namespace howard::chip {

/// Returns the time in which a core asks for a page and passes it through its NoC port: the issue
/// of the request or the way through the port, whichever is longer.
SimTime page_time(Bytes page, const Profiles& profiles);

/// Returns the time in which a core reads or writes `pages` of one size in the DRAM and waits once.
SimTime read_time(std::int64_t pages, Bytes page, const Profiles& profiles);
SimTime write_time(std::int64_t pages, Bytes page, const Profiles& profiles);

/// Returns the latency of a read or a write in the memory that holds the tensor.
SimTime read_latency(const TensorSpec& spec, const ChipProfile& chip);
SimTime write_latency(const TensorSpec& spec, const ChipProfile& chip);

/// Returns the time in which a core reads or writes `pages` of a tensor where it lies and waits
/// once. A page that is waited for before the next is asked for is issued as a short transaction.
SimTime read_time(std::int64_t pages, Bytes page, const TensorSpec& spec, const Profiles& profiles);
SimTime write_time(std::int64_t pages, Bytes page, const TensorSpec& spec,
                   const Profiles& profiles);

/// Returns `size` if the tensor is in DRAM, and nothing if it is in L1.
Bytes in_dram(const TensorSpec& spec, Bytes size);

/// Returns `size` if the tensor is in L1 and its pages are spread over the cores, and nothing if
/// not.
Bytes in_spread_l1(const TensorSpec& spec, Bytes size);

/// Says whether numbers of a tile share exponents, as in bfloat8_b.
constexpr bool is_block_format(DataType type) {
  return type == DataType::bfloat8_b || type == DataType::bfloat4_b;
}

/// Says in what pieces a shard is moved: in tiles, or in its rows if the tensor is row-major.
struct ShardPages {
  std::int64_t count = 0;
  Bytes size;
};
ShardPages shard_pages(const TensorSpec& spec);

}  // namespace howard::chip
