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
  const Bytes tile = tile_bytes(program.outputs[0].spec.dtype);
  std::int64_t tiles = 0;
  for (const Operand& output : program.outputs) tiles += output.spec.shape.tiles();
  const std::int64_t per_unit = ceil_div(tiles, units);
  const WorkSplit work = split_work(units, grid);
  return plan_steps(work,
                    {.steps = work.busiest * per_unit,
                     .all_steps = tiles,
                     .read = read_time(1, tile, profiles),
                     .write = write_time(1, tile, profiles),
                     .reads = tile,
                     .writes = tile,
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

PlannedProgram plan(const ConcatAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
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
