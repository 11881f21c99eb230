// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/chip/profiles/profile.h"

namespace howard::chip {

inline SimTime ns(std::int64_t count) { return SimTime::nanoseconds(count); }

/// Returns constants of which none is the profile's. They are round enough to work out times by
/// hand: a tile of bf16 takes 64 ns through a port, 200 ns in all to be read, 300 to be written and
/// 50 to be unpacked and packed; the DRAM never limits.
inline Profiles round_profiles() {
  Profiles profiles = load_profiles();
  constexpr Bandwidth kUnlimited(1'000'000'000'000'000);
  ChipProfile& chip = profiles.chip;
  chip.dram_read_noc0 = chip.dram_write_noc1 = chip.dram_spread = kUnlimited;
  chip.dram_read_noc1 = chip.dram_write_noc0 = kUnlimited;
  chip.dram_bandwidth = kUnlimited;
  chip.noc_link = Bandwidth(32'000'000'000);
  chip.noc_read_latency = ns(136);
  chip.noc_write_latency = ns(236);
  chip.unpack = Bandwidth(81'920'000'000);
  profiles.software.noc_read_issue = ns(10);
  TileCosts& tiles = profiles.software.tiles;
  tiles = {.start = ns(1000), .store = ns(2), .fpu = ns(30), .reduce = ns(40)};
  for (const EltwiseEntry& entry : eltwise_catalogue()) {
    if (entry.cost == "fpu") tiles.functions.at(static_cast<std::size_t>(entry.function)) = ns(30);
  }
  tiles.random = ns(710);
  tiles.gelu_backward = ns(720);
  tiles.adamw = ns(730);
  tiles.functions.at(static_cast<std::size_t>(Eltwise::exp)) = ns(100);
  profiles.software.attention.accurate_exp = ns(100);
  profiles.software.choice = {.compare = ns(4), .merge = ns(500), .candidate = ns(60)};
  tiles.pass = ns(100);
  tiles.softmax_row = ns(70);
  tiles.softmax_start = ns(9000);
  tiles.ttml_layernorm = ns(530);
  tiles.shard_start = ns(600);
  tiles.shard_set_up = ns(600);
  chip.l1_spread_read = chip.l1_spread_write = kUnlimited;
  profiles.software.movement = {.face_line = ns(3),
                                .segment = ns(7),
                                .mask = ns(90),
                                .row_line = ns(5),
                                .heads_start = ns(800),
                                .cache_tile = ns(400),
                                .cache_block = ns(250),
                                .picked_byte = ns(2),
                                .reshard = Bandwidth(16'000'000'000)};
  return profiles;
}

}  // namespace howard::chip
