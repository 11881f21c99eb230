// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <string>

#include "base/error.h"
#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/kernels/plan/plans.h"
#include "engines/chip/kernels/plan/work_split.h"

namespace howard::chip {
namespace {

/// Says how the work is dealt out, in chunks.
struct AttentionSplit {
  int cores = 0;                    ///< The number of cores that have work.
  std::int64_t query_chunks = 0;    ///< The chunks of q of the busiest core.
  std::int64_t key_chunks = 0;      ///< The chunks of k that it sees, over all its chunks of q.
  std::int64_t all_key_chunks = 0;  ///< Those of all cores together.
};

/// Returns whether chunks of k are passed over because no row of a chunk of q sees them: since June
/// 2026 (tt-metal, pull request 46281), in the kernel that adds up in bfloat16.
bool passes_over(const AttentionAttributes& attributes, const AttentionCosts& costs) {
  return attributes.window > 0 && costs.skips_windows &&
         !attributes.compute.fp32_accumulation.value_or(false);
}

/// Returns how many of `all` chunks of k the kernel takes for the chunk `i` of q.
std::int64_t seen_by(std::int64_t i, std::int64_t all, const AttentionAttributes& attributes,
                     bool passes) {
  const std::int64_t begin = i * attributes.query_chunk, end = begin + attributes.query_chunk;
  const std::int64_t half = attributes.window / 2;
  const std::int64_t last = attributes.causal ? end : passes ? end + half : INT64_MAX / 2;
  const std::int64_t until = std::min(all, ceil_div(last, attributes.key_chunk));
  if (!passes) return until;
  const std::int64_t first = begin - (attributes.causal ? attributes.window - 1 : half);
  return std::max<std::int64_t>(1, until - std::max<std::int64_t>(0, first) / attributes.key_chunk);
}

AttentionSplit split_attention(const Shape& q, const Shape& k,
                               const AttentionAttributes& attributes, int cores, bool passes) {
  const std::int64_t queries = ceil_div(q.rows(), attributes.query_chunk);
  const std::int64_t keys = ceil_div(k.rows(), attributes.key_chunk);
  const std::int64_t for_batch = std::min<std::int64_t>(q.outer(), cores);
  const std::int64_t for_heads = std::min(cores / for_batch, q.heads());
  const std::int64_t for_chunks = std::min(cores / (for_batch * for_heads), queries);
  const std::int64_t products = ceil_div(q.outer(), for_batch) * ceil_div(q.heads(), for_heads);
  const std::int64_t each = ceil_div(queries, for_chunks);
  AttentionSplit split{.cores = static_cast<int>(for_batch * for_heads * ceil_div(queries, each)),
                       .query_chunks = products * each};
  std::int64_t of_all = 0;
  std::int64_t of_last = 0;  // The last core has the chunks that see most.
  for (std::int64_t i = 0; i < queries; ++i) {
    const std::int64_t seen = seen_by(i, keys, attributes, passes);
    of_all += seen;
    if (i / each == (queries - 1) / each) of_last += seen;
  }
  // If they are dealt out evenly, a causal core has a chunk from either end.
  const bool paired = attributes.causal && each % 2 == 0 && queries % for_chunks == 0;
  const bool alike = !attributes.causal && !passes;
  const std::int64_t of_busiest = paired  ? ceil_div(of_all, for_chunks)
                                  : alike ? each * keys
                                          : std::max(of_last, ceil_div(of_all, for_chunks));
  split.key_chunks = products * of_busiest;
  split.all_key_chunks = q.batch() * of_all;
  return split;
}

/// Returns the tiles of a chunk of the keys in a decoding step, of which so many are seen, where
/// the caller does not say: the next power of two, up to 8.
std::int64_t decode_chunk(std::int64_t tiles) {
  constexpr std::uint64_t kMostTiles = 8;
  return static_cast<std::int64_t>(
      std::min(kMostTiles, std::bit_ceil(static_cast<std::uint64_t>(tiles))));
}

}  // namespace

PlannedProgram plan(const DecodeAttentionAttributes& attributes, const Program& program,
                    CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& q = program.inputs[0].spec;
  const TensorSpec& keys = program.inputs[1].spec;
  const Shape& k = keys.shape;
  const Bytes tile = tile_bytes(keys.dtype);
  const Bytes result_tile = tile_bytes(q.dtype);
  const std::int64_t places = attributes.seen == 0 ? k.rows() : std::min(attributes.seen, k.rows());
  const std::int64_t until = ceil_div(places, kTileSide);
  const std::int64_t pairs = k.batch();  // A pair is a sequence and a head of keys.
  const std::int64_t workers =
      std::clamp<std::int64_t>(grid.cores() / pairs, 1, attributes.cores_of_head);
  // A chunk is no longer than what is seen.
  const std::int64_t sk = attributes.key_chunk == 0
                              ? decode_chunk(until)
                              : std::min(ceil_div(attributes.key_chunk, kTileSide), until);
  // It begins with the chunk in which the window does.
  const std::int64_t hidden = attributes.window == 0 || attributes.window >= places
                                  ? 0
                                  : (places - attributes.window) / (sk * kTileSide);
  const std::int64_t chunks = ceil_div(until, sk) - hidden;
  const std::int64_t used = std::min(workers, chunks);
  const std::int64_t heads_of_core =
      ceil_div(pairs, std::max<std::int64_t>(1, grid.cores() / workers));
  const std::int64_t d = q.shape.tile_columns();
  const auto phases =
      static_cast<std::int64_t>(attributes.compute.fidelity.value_or(MathFidelity::hifi2));
  const SoftwareProfile& software = profiles.software;
  const AttentionCosts& cost = software.attention;
  const SimTime product = profiles.chip.tile_pass() * phases + 3 * software.matmul_tile_product;
  const SimTime exp = attributes.approximate ? cost.exp : cost.exact_exp;
  const SimTime compute =
      2 * sk * d * product + sk * (exp + cost.max + cost.sum) + d * cost.max + cost.decode_chunk;
  // A part consists of the sums of a tile of rows, their largest scores and their totals. One core
  // merges the parts of the others with its own, one after the other, each in phases as a chunk's:
  // both parts are corrected by an exponential and added.
  const SimTime merge = read_time(d + 2, result_tile, profiles) + 2 * exp + d * cost.max +
                        cost.sum + cost.decode_chunk;
  const std::int64_t merges = used - 1;
  const StepPipeline pipeline{
      .steps = heads_of_core * ceil_div(chunks, used),
      .all_steps = pairs * chunks,
      .cores = static_cast<int>(std::min<std::int64_t>(grid.cores(), pairs * used)),
      .set_up = heads_of_core * read_time(d, result_tile, profiles),
      .read = read_time(2 * sk * d, tile, profiles),
      .compute = compute,
      .write = {},
      .last_write = heads_of_core * (merges * merge + write_time(d, result_tile, profiles)),
      .reads = 2 * sk * d * tile,
      .writes = {}};
  KernelCost kernel = step_pipeline_cost(pipeline, grid, profiles);
  kernel.dram += 2 * pairs * d * result_tile;
  constexpr int kCircularBuffers = 16;
  return planned({.cores = pipeline.cores, .kernel_groups = 2},
                 {software.ttnn_binary_arguments, kCircularBuffers}, kernel, software);
}

PlannedProgram plan(const AttentionAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& q = program.inputs[0].spec;
  const Shape& k = program.inputs[1].spec.shape;
  const Bytes tile = tile_bytes(q.dtype);
  constexpr std::int64_t kMostChunks = 1 << 20;
  if (ceil_div(q.shape.rows(), attributes.query_chunk) > kMostChunks) {
    throw Error(
        {.attempted = "compute attention",
         .value = q.shape.text() + " in chunks of " + std::to_string(attributes.query_chunk),
         .accepted = "1048576 chunks at the most"});
  }
  const int given = attributes.core_grid.value_or(grid).cores();
  const bool passes = passes_over(attributes, profiles.software.attention);
  const AttentionSplit split =
      split_attention(q.shape, k, attributes, std::min(given, grid.cores()), passes);
  const std::int64_t sq = attributes.query_chunk / kTileSide;
  const std::int64_t sk = attributes.key_chunk / kTileSide;
  const std::int64_t d = q.shape.tile_columns();
  const auto phases =
      static_cast<std::int64_t>(attributes.compute.fidelity.value_or(MathFidelity::hifi2));
  const SoftwareProfile& software = profiles.software;
  const AttentionCosts& cost = software.attention;
  const SimTime product = profiles.chip.tile_pass() * phases + 3 * software.matmul_tile_product;
  // The compute kernel makes both products, the softmax of the scores, and the correction of the
  // sums so far.
  const bool masked = program.inputs.size() > 3;
  // Where no chunk is passed over for a window, each has a mask, which the kernel makes itself.
  const bool adds = masked || (attributes.window > 0 && !passes);
  const SimTime exp = attributes.approximate ? cost.exp : cost.exact_exp;
  const SimTime compute = 2 * sq * sk * d * product + sq * sk * (exp + cost.max + cost.sum) +
                          (adds ? sq * sk * software.tiles.fpu : SimTime()) + sq * d * cost.max +
                          cost.chunk;
  const std::int64_t read = 2 * sk * d + (masked ? sq * sk : 0);
  // Queries come besides, which is as much as half of the keys and values where these are few.
  // Results go over the other NoC.
  const Bytes queries(ceil_div(q.shape.tiles() * tile.value(), split.all_key_chunks));
  const StepPipeline pipeline{
      .steps = split.key_chunks,
      .all_steps = split.all_key_chunks,
      .cores = split.cores,
      // Each chunk of q is read before its first step, and its result written after the last.
      .set_up = split.query_chunks * read_time(sq * d, tile, profiles),
      .read = read_time(read, tile, profiles),
      .compute = compute,
      .write = {},
      .last_write = write_time(sq * d, tile, profiles),
      .reads = read * tile + queries,
      .writes = {}};
  KernelCost kernel = step_pipeline_cost(pipeline, grid, profiles);
  kernel.dram = (split.all_key_chunks * read + 2 * q.shape.tiles()) * tile;
  constexpr int kCircularBuffers = 16;
  return planned({.cores = split.cores}, {software.ttnn_binary_arguments, kCircularBuffers}, kernel,
                 software);
}

}  // namespace howard::chip
