// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/data_movement/data_movement.h"

#include <algorithm>

#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"

namespace howard::chip {
std::int64_t rows_in_tile(const Shape& shape) { return std::min(kTileSide, shape.rows()); }

Bytes row_bytes(const TensorSpec& spec) {
  return Bytes(spec.host_bytes().value() / (spec.shape.batch() * spec.shape.rows()));
}

std::int64_t rows_of_tiles(const TensorSpec& spec) {
  return spec.shape.batch() * spec.shape.tile_rows();
}

SimTime repack_time(std::int64_t tiles, Bytes tile, const ChipProfile& chip) {
  return transfer_time(2 * tiles * tile, chip.unpack);
}

PlannedProgram plan_move_tiles(const Program& program, std::int64_t units, CoreGrid grid,
                               const Profiles& profiles) {
  const TensorSpec &in = program.inputs[0].spec, &out = program.outputs[0].spec;
  const Bytes tile = tile_bytes(out.dtype);
  std::int64_t tiles = 0;
  for (const Operand& output : program.outputs) tiles += output.spec.shape.tiles();
  const std::int64_t per_unit = ceil_div(tiles, units);
  const WorkSplit work = split_work(units, grid);
  return plan_steps(work,
                    {.steps = work.busiest * per_unit,
                     .all_steps = tiles,
                     .read = read_latency(in, profiles.chip) + page_time(tile, profiles),
                     .write = write_latency(out, profiles.chip) + page_time(tile, profiles),
                     .reads = in_dram(in, tile),
                     .writes = in_dram(out, tile),
                     .l1_reads = in_spread_l1(in, tile),
                     .l1_writes = in_spread_l1(out, tile),
                     .runs = {units, work.cores, per_unit, per_unit}},
                    grid, profiles);
}

PlannedProgram plan(const MoveTilesAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return plan_move_tiles(program, program.outputs[0].spec.shape.tiles(), grid, profiles);
}

PlannedProgram plan(const ScatterAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return plan_move_tiles(program, program.outputs[0].spec.shape.tiles(), grid, profiles);
}

PlannedProgram plan(const ConcatAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  if (out.layout == Layout::row_major) {
    // A row is read in as many parts as lie side by side, and waited for once.
    const std::int64_t rows = out.shape.batch() * out.shape.rows();
    const std::int64_t parts = attributes.dimension == 3 ? std::ssize(program.inputs) : 1;
    const Bytes row = row_bytes(out), part(ceil_div(row.value(), parts));
    return plan_steps(split_work(rows, grid),
                      {.all_steps = rows,
                       .read = read_time(parts, part, in, profiles),
                       .write = write_time(1, row, out, profiles),
                       .reads = in_dram(in, row),
                       .writes = in_dram(out, row),
                       .l1_reads = in_spread_l1(in, row),
                       .l1_writes = in_spread_l1(out, row)},
                      grid, profiles);
  }
  return plan_move_tiles(program, program.outputs[0].spec.shape.tiles(), grid, profiles);
}

PlannedProgram plan(const SplitGroupsAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return plan_move_tiles(program, rows_of_tiles(program.inputs[0].spec), grid, profiles);
}

PlannedProgram plan(const PagedFillCacheAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  Program move = program;
  move.outputs = {program.inputs[0]};
  return plan_move_tiles(move, rows_of_tiles(program.inputs[0].spec), grid, profiles);
}

}  // namespace howard::chip
