// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/pipeline/pages.h"

#include <algorithm>

namespace howard::chip {

SimTime page_time(Bytes page, const Profiles& profiles) {
  return std::max(profiles.software.noc_read_issue, transfer_time(page, profiles.chip.noc_link));
}

SimTime read_time(std::int64_t pages, Bytes page, const Profiles& profiles) {
  return profiles.chip.noc_read_latency + pages * page_time(page, profiles);
}

SimTime write_time(std::int64_t pages, Bytes page, const Profiles& profiles) {
  return profiles.chip.noc_write_latency + pages * page_time(page, profiles);
}

SimTime read_latency(const TensorSpec& spec, const ChipProfile& chip) {
  return spec.storage == Storage::dram ? chip.noc_read_latency : chip.l1_latency;
}

SimTime write_latency(const TensorSpec& spec, const ChipProfile& chip) {
  return spec.storage == Storage::dram ? chip.noc_write_latency : chip.l1_latency;
}

namespace {

/// Of one page alone, the issue is that of a short transaction.
SimTime pages_time(std::int64_t pages, Bytes page, const TensorSpec& spec,
                   const Profiles& profiles) {
  if (pages > 1) return pages * page_time(page, profiles);
  const ConvolutionCosts& cost = profiles.software.convolution;
  return std::max(spec.storage == Storage::dram ? cost.dram_read : cost.stick,
                  transfer_time(page, profiles.chip.noc_link));
}

}  // namespace

SimTime read_time(std::int64_t pages, Bytes page, const TensorSpec& spec,
                  const Profiles& profiles) {
  return read_latency(spec, profiles.chip) + pages_time(pages, page, spec, profiles);
}

SimTime write_time(std::int64_t pages, Bytes page, const TensorSpec& spec,
                   const Profiles& profiles) {
  return write_latency(spec, profiles.chip) + pages_time(pages, page, spec, profiles);
}

Bytes in_dram(const TensorSpec& spec, Bytes size) {
  return spec.storage == Storage::dram ? size : Bytes();
}

Bytes in_spread_l1(const TensorSpec& spec, Bytes size) {
  return spec.storage == Storage::l1 && !spec.sharding ? size : Bytes();
}

ShardPages shard_pages(const TensorSpec& spec) {
  const Sharding& shard = *spec.sharding;
  if (spec.layout == Layout::tile) {
    return {shard.rows / kTileSide * (shard.columns / kTileSide), tile_bytes(spec.dtype)};
  }
  return {shard.rows, shard.columns * Bytes(spec.host_bytes().value() / spec.shape.elements())};
}

}  // namespace howard::chip
