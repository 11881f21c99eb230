// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/sim_time.h"
#include "base/units.h"
#include "engines/program/eltwise.h"

namespace howard::chip {

// constants() names the constant of each member once; it is called as visit("name", member).
// profiles/*.json has the meaning, the unit and the source of each.

/// What the power limit of a board and the power of its chip make of the clock (pipeline/clock.h).
struct PowerCosts {
  std::int64_t limit = 0, idle = 0, core = 0, unpack = 0;  // in milliwatts; no limit: 0
  SimTime patience;

  template <class Visitor>
  void constants(Visitor& visit) {
    visit.power("power.limit", limit);
    visit.power("power.idle", idle);
    visit.power("power.core", core);
    visit.power("power.unpack", unpack);
    visit.host_time("power.patience", patience);
  }

  bool operator==(const PowerCosts&) const = default;
};

/// The costs of the dispatch kernels and the firmware (see footprint.h).
struct DispatchCosts {
  SimTime program, binary;
  Bandwidth write;
  SimTime configuration, core_arguments, group, group_least, circular_buffer_group, from_eth,
      replay, go, go_core, go_binary;
  int launch_ring = 0;
  Bytes configuration_ring;
  bool arguments_overlap = false, trace_keeps_binaries = false;

  template <class Visitor>
  void constants(Visitor& visit) {
    visit("dispatch.program", program);
    visit("dispatch.binary", binary);
    visit("dispatch.write", write);
    visit("dispatch.configuration", configuration);
    visit("dispatch.core_arguments", core_arguments);
    visit("dispatch.group", group);
    visit("dispatch.group_least", group_least);
    visit("dispatch.circular_buffer_group", circular_buffer_group);
    visit("dispatch.from_eth", from_eth);
    visit("dispatch.replay", replay);
    visit("dispatch.go", go);
    visit("dispatch.go_core", go_core);
    visit("dispatch.go_binary", go_binary);
    visit("dispatch.launch_ring", launch_ring);
    visit("dispatch.configuration_ring", configuration_ring);
    visit("dispatch.arguments_overlap", arguments_overlap);
    visit("dispatch.trace_keeps_binaries", trace_keeps_binaries);
  }

  bool operator==(const DispatchCosts&) const = default;
};

/// The costs of ttnn's kernels that go from tile to tile (see tile_pipeline.h).
struct TileCosts {
  SimTime start, operand, multiply;
  std::int64_t interference = 0;  // in ten-thousandths
  SimTime store, fpu, simple, reduce, transpose;
  /// On shards where they are: the start, what some kernels set up, a tile of a reduction, and the
  /// wait for other cores.
  SimTime shard_start, shard_set_up, shard_reduce, shard_gather;
  SimTime operand_chain;  ///< More for a tile of an operand that functions change first.

  SimTime random, gelu_backward, adamw, pass, norm_row, softmax_row, softmax_start, ttml_layernorm;
  SimTime broadcast;          ///< More for a tile of ttnn's older kernels that repeat an operand.
  bool norm_rereads = false;  ///< The rms_norm of 2026, which reads rows that are too long twice.

  /// The times of the elementwise functions; a function's entry in the catalogue names its
  /// constant.
  std::array<SimTime, kEltwiseFunctions> functions{};

  template <class Visitor>
  void constants(Visitor& visit) {
    visit("tiles.start", start);
    visit("tiles.operand", operand);
    visit("tiles.multiply", multiply);
    visit("tiles.interference", interference);
    visit("tiles.store", store);
    visit("tiles.fpu", fpu);
    visit("tiles.simple", simple);
    visit("tiles.reduce", reduce);
    visit("tiles.transpose", transpose);
    visit("tiles.shard_start", shard_start);
    visit("tiles.shard_set_up", shard_set_up);
    visit("tiles.shard_reduce", shard_reduce);
    visit("tiles.shard_gather", shard_gather);
    visit("tiles.operand_chain", operand_chain);
    visit("tiles.random", random);
    visit("tiles.gelu_backward", gelu_backward);
    visit("tiles.adamw", adamw);
    visit("tiles.pass", pass);
    visit("tiles.norm_row", norm_row);
    visit("tiles.broadcast", broadcast);
    visit("tiles.norm_rereads", norm_rereads);
    visit("tiles.softmax_row", softmax_row);
    visit("tiles.softmax_start", softmax_start);
    visit("tiles.ttml_layernorm", ttml_layernorm);
  }

  bool operator==(const TileCosts&) const = default;
};

/// The costs of ttnn's kernels that copy with a RISC (kernels/data_movement).
struct MovementCosts {
  SimTime face_line, segment, mask, row_line, heads_start, cache_tile, cache_block, picked_byte;
  Bandwidth reshard;

  template <class Visitor>
  void constants(Visitor& visit) {
    visit("movement.face_line", face_line);
    visit("movement.segment", segment);
    visit("movement.mask", mask);
    visit("movement.row_line", row_line);
    visit("movement.heads_start", heads_start);
    visit("movement.cache_tile", cache_tile);
    visit("movement.cache_block", cache_block);
    visit("movement.picked_byte", picked_byte);
    visit("movement.reshard", reshard);
  }

  bool operator==(const MovementCosts&) const = default;
};

/// The costs of ttnn's kernels on images (kernels/convolution).
struct ConvolutionCosts {
  SimTime stick, dram_read, tilize, tilize_block, pool_stop, pool_tile;

  template <class Visitor>
  void constants(Visitor& visit) {
    visit("convolution.stick", stick);
    visit("convolution.dram_read", dram_read);
    visit("convolution.tilize", tilize);
    visit("convolution.tilize_block", tilize_block);
    visit("convolution.pool_stop", pool_stop);
    visit("convolution.pool_tile", pool_tile);
  }

  bool operator==(const ConvolutionCosts&) const = default;
};

/// The costs of attention kernels besides their products (kernels/attention).
struct AttentionCosts {
  SimTime exp, exact_exp, max, sum, chunk, accurate_exp, decode_chunk;
  bool skips_windows = false;  ///< The attention of June 2026 and later.

  template <class Visitor>
  void constants(Visitor& visit) {
    visit("attention.exp", exp);
    visit("attention.exact_exp", exact_exp);
    visit("attention.max", max);
    visit("attention.sum", sum);
    visit("attention.chunk", chunk);
    visit("attention.accurate_exp", accurate_exp);
    visit("attention.decode_chunk", decode_chunk);
    visit("attention.skips_windows", skips_windows);
  }

  bool operator==(const AttentionCosts&) const = default;
};

/// The costs of ttnn's kernels that choose tokens (kernels/rows/choice.cpp).
struct ChoiceCosts {
  SimTime compare, merge, candidate;
  bool topk_of_rows = false;  // The topk of January 2026 and later.

  template <class Visitor>
  void constants(Visitor& visit) {
    visit("choice.compare", compare);
    visit("choice.merge", merge);
    visit("choice.candidate", candidate);
    visit("choice.topk_of_rows", topk_of_rows);
  }

  bool operator==(const ChoiceCosts&) const = default;
};

/// The costs of tt-metal's collectives over several chips (kernels/collective).
struct CollectiveCosts {
  SimTime gather_start, gather_step, shards_start;
  Bandwidth gather_link, gather_copy;
  SimTime scatter_start, scatter_step, scatter_ring_start, scatter_ring_step;
  Bandwidth scatter_link, scatter_add;
  SimTime packet, ring_packet, worker_packet;
  SimTime exchange_start, exchange_step;
  bool scatter_half_ring = false;  ///< The reduce_scatter of April 2026 and later.

  template <class Visitor>
  void constants(Visitor& visit) {
    visit("all_gather.start", gather_start);
    visit("all_gather.step", gather_step);
    visit("all_gather.shards_start", shards_start);
    visit("all_gather.link", gather_link);
    visit("all_gather.copy", gather_copy);
    visit("reduce_scatter.start", scatter_start);
    visit("reduce_scatter.step", scatter_step);
    visit("reduce_scatter.ring_start", scatter_ring_start);
    visit("reduce_scatter.ring_step", scatter_ring_step);
    visit("reduce_scatter.link", scatter_link);
    visit("reduce_scatter.add", scatter_add);
    visit("fabric.packet", packet);
    visit("fabric.ring_packet", ring_packet);
    visit("fabric.worker_packet", worker_packet);
    visit("all_to_all.start", exchange_start);
    visit("all_to_all.step", exchange_step);
    visit("reduce_scatter.half_ring", scatter_half_ring);
  }

  bool operator==(const CollectiveCosts&) const = default;
};

/// The times of what the host of a user's script does besides the work of its calls in C++.
struct ScriptTimes {
  SimTime ttnn_call;       ///< The call of an op through ttnn's own Python layer.
  SimTime program_miss;    ///< A program's first call if its kernels are on disk.
  SimTime kernel_compile;  ///< A program's first call that compiles them.

  template <class Visitor>
  void constants(Visitor& visit) {
    visit.host_time("host.ttnn_call", ttnn_call);
    visit.host_time("host.program_miss", program_miss);
    visit.host_time("host.kernel_compile", kernel_compile);
  }

  bool operator==(const ScriptTimes&) const = default;
};

}  // namespace howard::chip
