// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/chip/kernels/pipeline/tile_product.h"
#include "engines/chip/kernels/plan/plans.h"
#include "engines/chip/kernels/plan/work_split.h"

namespace howard::chip {
namespace {

/// The width of a head of q and k, and that of v and the result, in tiles.
struct HeadWidths {
  std::int64_t q = 0, v = 0;
};

/// How often something is done with tiles side by side: as many as q has, or as v has.
struct Counts {
  std::int64_t of_q = 0, of_v = 0;

  std::int64_t tiles(HeadWidths widths) const { return of_q * widths.q + of_v * widths.v; }
  /// Returns the time of so many reads or writes, each with a barrier of its own.
  template <class Time>
  SimTime time(HeadWidths widths, const Time& of) const {
    return (of_q > 0 ? of_q * of(widths.q) : SimTime()) +
           (of_v > 0 ? of_v * of(widths.v) : SimTime());
  }
};

/// What a kernel does. A step takes a row of tiles of what is dealt out and one of the other
/// operand.
struct TtmlKernel {
  std::size_t mask;               ///< The place of a mask among the operands, if there is one.
  Counts products;                ///< Products in a step.
  std::int64_t passes = 0;        ///< Passes of the tile of scores in a step.
  Counts passes_of_row;           ///< Passes of tiles side by side in a step.
  std::int64_t exponentials = 0;  ///< Those of a tile in a step.
  Counts reads;                   ///< Reads in a step.
  bool reads_statistics = false;  ///< Each step reads two tiles more.
  Counts row_reads, row_writes;   ///< Those for a row that is dealt out.
  Counts row_passes;              ///< Passes for such a row.
  bool row_statistics = false;    ///< Two tiles more are read or written for such a row.
};

/// The passes of a step make the scores, the largest of a row, the larger one of both steps, the
/// difference and its exponential, the sum of a row, the difference of the largest ones and its
/// exponential, the earlier sum times that, and the sum of both. The result of a step is packed,
/// the earlier one is scaled, and both are added. In the end a row is multiplied by the inverse of
/// its sum.
constexpr TtmlKernel kForward{.mask = TtmlAttentionAttributes::kInputs.size() - 1,
                              .products = {.of_q = 1, .of_v = 1},
                              .passes = 8,
                              .passes_of_row = {.of_v = 3},
                              .exponentials = 2,
                              .reads = {.of_q = 1, .of_v = 1},
                              .row_reads = {.of_q = 1},
                              .row_writes = {.of_v = 1},
                              .row_passes = {.of_v = 1},
                              .row_statistics = true};
/// The passes of a step make the scores, the difference and its exponential, multiply them by the
/// inverse sum, make the slopes of the probabilities, subtract what they have in common, and
/// multiply them by the probabilities. The packer accumulates dq. Before the first step the result
/// is multiplied by its gradient.
constexpr TtmlKernel kBackwardQ{.mask = AttentionBackwardQAttributes::kInputs.size() - 1,
                                .products = {.of_q = 2, .of_v = 1},
                                .passes = 6,
                                .passes_of_row = {.of_q = 1},
                                .exponentials = 1,
                                .reads = {.of_q = 1, .of_v = 1},
                                .row_reads = {.of_q = 1, .of_v = 2},
                                .row_writes = {.of_q = 1},
                                .row_passes = {.of_v = 1},
                                .row_statistics = true};
/// A step has the passes of kBackwardQ, two transpositions, and the sum of the result times its
/// gradient, which is made anew in each step. dk and dv are accumulated.
constexpr TtmlKernel kBackwardKv{.mask = AttentionBackwardKvAttributes::kInputs.size() - 1,
                                 .products = {.of_q = 2, .of_v = 2},
                                 .passes = 9,
                                 .passes_of_row = {.of_q = 1, .of_v = 2},
                                 .exponentials = 1,
                                 .reads = {.of_q = 1, .of_v = 2},
                                 .reads_statistics = true,
                                 .row_reads = {.of_q = 1, .of_v = 1},
                                 .row_writes = {.of_q = 1, .of_v = 1}};

/// Says which rows of tiles are dealt out, and how many others each of them meets.
struct TtmlRows {
  std::int64_t dealt = 0;   ///< All of them.
  std::int64_t others = 0;  ///< Rows of one head that one of them meets, unless it is causal.
  std::int64_t heads = 1;   ///< So many heads it meets.
  bool causal = false;

  /// Returns the meetings of `count` rows of one core. Of a causal kernel they are pairs of a row
  /// that meets many and one that meets few; one that is left is of the former kind.
  std::int64_t meetings(std::int64_t count) const {
    const std::int64_t of_head =
        causal ? count / 2 * (others + 1) + count % 2 * others : count * others;
    return heads * of_head;
  }
  std::int64_t all_meetings() const {
    return heads * (causal ? ceil_div(dealt * (others + 1), 2) : dealt * others);
  }
};

/// Returns the time that a mask adds to a tile of scores: its tile is copied beside them, and five
/// short functions multiply the scores by it and by the scale, turn it into what hidden scores
/// lose, and subtract that.
SimTime mask_time(const TileCosts& tiles) {
  constexpr std::int64_t kFunctions = 5;
  return tiles.pass + kFunctions * tiles.simple;
}

SimTime step_time(const TtmlKernel& kernel, HeadWidths widths, Bytes tile,
                  const Profiles& profiles) {
  constexpr std::int64_t kPhases = 4;  // HiFi4
  const ChipProfile& chip = profiles.chip;
  const SoftwareProfile& software = profiles.software;
  // One tile of the result at a time: both factors are unpacked for each product.
  const SimTime product = std::max(chip.tile_pass() * kPhases + software.matmul_tile_product,
                                   unpack_time({.in0_tile = tile, .in1_tile = tile}, chip));
  return kernel.products.tiles(widths) * product +
         (kernel.passes + kernel.passes_of_row.tiles(widths)) * software.tiles.pass +
         kernel.exponentials * software.attention.accurate_exp;
}

PlannedProgram plan_ttml(const Program& program, const TtmlKernel& kernel, const TtmlRows& rows,
                         CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& q = program.inputs[0].spec;
  const HeadWidths widths{q.shape.tile_columns(), program.inputs[2].spec.shape.tile_columns()};
  const Bytes tile = tile_bytes(q.dtype);
  constexpr std::int64_t kStatistics = 2;
  const std::int64_t extra = kernel.reads_statistics ? kStatistics : 0;
  const std::int64_t of_row = kernel.row_reads.tiles(widths) + kernel.row_writes.tiles(widths) +
                              (kernel.row_statistics ? kStatistics : 0);
  const auto read = [&](std::int64_t tiles) { return read_time(tiles, tile, profiles); };
  const auto write = [&](std::int64_t tiles) { return write_time(tiles, tile, profiles); };
  const bool masked = program.inputs.size() > kernel.mask;
  const Bytes mask_tile = masked ? tile_bytes(program.inputs[kernel.mask].spec.dtype) : Bytes();
  const WorkSplit work = split_work(rows.dealt, grid);
  const StepPipeline pipeline{
      .steps = rows.meetings(work.busiest),
      .all_steps = rows.all_meetings(),
      .cores = work.cores,
      .set_up = work.busiest * (kernel.row_reads.time(widths, read) +
                                kernel.row_passes.tiles(widths) * profiles.software.tiles.pass),
      .read = kernel.reads.time(widths, read) + (extra > 0 ? read(extra) : SimTime()) +
              (masked ? read_time(1, mask_tile, profiles) : SimTime()),
      .compute = step_time(kernel, widths, tile, profiles) +
                 (masked ? mask_time(profiles.software.tiles) : SimTime()),
      .write = {},
      .last_write = kernel.row_writes.time(widths, write),
      .reads = (kernel.reads.tiles(widths) + extra) * tile + mask_tile,
      .writes = {}};
  KernelCost cost = step_pipeline_cost(pipeline, grid, profiles);
  cost.dram += rows.dealt * of_row * tile;
  constexpr int kCircularBuffers = 16;
  return planned(work, {profiles.software.ttnn_other_arguments, kCircularBuffers}, cost,
                 profiles.software);
}

/// Returns the rows of q, which meet those of k.
TtmlRows rows_of_q(const Program& program, bool causal) {
  const Shape& q = program.inputs[0].spec.shape;
  return {.dealt = q.batch() * q.tile_rows(),
          .others = program.inputs[1].spec.shape.tile_rows(),
          .causal = causal};
}

}  // namespace

PlannedProgram plan(const TtmlAttentionAttributes& attributes, const Program& program,
                    CoreGrid grid, const Profiles& profiles) {
  return plan_ttml(program, kForward, rows_of_q(program, attributes.causal), grid, profiles);
}

PlannedProgram plan(const AttentionBackwardQAttributes& attributes, const Program& program,
                    CoreGrid grid, const Profiles& profiles) {
  return plan_ttml(program, kBackwardQ, rows_of_q(program, attributes.causal), grid, profiles);
}

PlannedProgram plan(const AttentionBackwardKvAttributes& attributes, const Program& program,
                    CoreGrid grid, const Profiles& profiles) {
  const Shape& q = program.inputs[0].spec.shape;
  const Shape& k = program.inputs[1].spec.shape;
  const TtmlRows rows{.dealt = k.batch() * k.tile_rows(),
                      .others = q.tile_rows(),
                      .heads = q.heads() / k.heads(),
                      .causal = attributes.causal};
  return plan_ttml(program, kBackwardKv, rows, grid, profiles);
}

}  // namespace howard::chip
