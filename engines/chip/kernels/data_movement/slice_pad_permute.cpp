// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/data_movement/data_movement.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engines/chip/kernels/pipeline/pages.h"
#include "engines/chip/kernels/plan/plans.h"
#include "engines/program/program.h"

namespace howard::chip {
namespace {

/// Plans the rows of a row-major result, each read and written by itself; `picking` is what a RISC
/// does to a row in between.
PlannedProgram plan_sticks(const Program& program, std::int64_t rows_read, CoreGrid grid,
                           const Profiles& profiles, SimTime picking = {}) {
  const TensorSpec& out = program.outputs[0].spec;
  const std::int64_t rows = out.shape.batch() * out.shape.rows();
  const Bytes row(ceil_div(out.host_bytes().value(), rows));
  constexpr int kCircularBuffers = 2;
  PlannedProgram planned = plan_steps(split_work(rows, grid),
                                      {.all_steps = rows,
                                       .read = read_time(1, row, profiles) + picking,
                                       .write = write_time(1, row, profiles),
                                       .reads = row,
                                       .writes = row},
                                      grid, profiles, kCircularBuffers);
  planned.kernel.dram = (rows + rows_read) * row;
  return planned;
}

/// Plans moves of lines of 32 bytes, each of which is written, and with `reads_lines` also read, on
/// its own.
PlannedProgram plan_face_lines(const Program& program, bool reads_lines, CoreGrid grid,
                               const Profiles& profiles) {
  const TensorSpec& out = program.outputs[0].spec;
  const Bytes tile = tile_bytes(out.dtype);
  const std::int64_t tiles = std::max(out.shape.tiles(), program.inputs[0].spec.shape.tiles());
  const WorkSplit work = split_work(tiles, grid);
  const std::int64_t rows = std::min(kTileSide, program.inputs[0].spec.shape.rows());
  const SimTime lines = 2 * rows * profiles.software.movement.face_line;
  return plan_steps(
      work,
      {.all_steps = tiles,
       .read = reads_lines ? profiles.chip.noc_read_latency + lines : read_time(1, tile, profiles),
       .compute = reads_lines ? profiles.software.tiles.transpose : SimTime(),
       .write = profiles.chip.noc_write_latency + lines,
       .reads = tile,
       .writes = tile},
      grid, profiles);
}

/// Plans rows that are written into a cache. Whole tiles are moved as they are. For other rows, as
/// in ttnn's update_cache, a core reads the tiles of a head's rows and of the cache's, untilizes
/// both, replaces the rows, tilizes and writes. The latter is by analogy: no measurement of it is
/// known. `row` is absent where it is not known before the program runs.
PlannedProgram plan_write_rows(const Program& program, std::optional<std::int64_t> row,
                               CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& rows = program.inputs[0].spec;
  const bool whole = row && *row % kTileSide == 0 && rows.shape.rows() % kTileSide == 0;
  if (whole) {
    Program move = program;
    move.outputs = {program.inputs[0]};
    return plan_move_tiles(move, rows.shape.tiles(), grid, profiles);
  }
  const Bytes tile = tile_bytes(rows.dtype);
  const std::int64_t tiles = rows.shape.tile_columns();
  const std::int64_t lines = rows.shape.batch() * rows.shape.tile_rows();
  constexpr int kCircularBuffers = 6;
  return plan_steps(
      split_work(lines, grid),
      {.all_steps = lines,
       .read = read_time(2 * tiles, tile, profiles),
       // Both operands are untilized and one is tilized: each tile is unpacked and packed.
       .compute = repack_time(3 * tiles, tile, profiles.chip),
       .write = write_time(tiles, tile, profiles),
       .reads = 2 * tiles * tile,
       .writes = tiles * tile},
      grid, profiles, kCircularBuffers);
}

/// Plans tiles that get tiles of padding beside them. Those of the operand are read, waited for and
/// written, one at a time; those of padding are written from one that a RISC has filled. Only tiles
/// of bfloat16 in DRAM have more than one core (tt-metal pad_device_operation.cpp, December 2025).
PlannedProgram plan_padded_tiles(const PadAttributes& attributes, const Program& program,
                                 CoreGrid grid, const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  const bool spread = attributes.use_multicore && out.dtype == DataType::bfloat16 &&
                      in.storage == Storage::dram && out.storage == Storage::dram;
  const Bytes tile = tile_bytes(out.dtype);
  const std::int64_t moved = in.shape.tiles(), all = out.shape.tiles();
  const SimTime one = std::max(read_time(1, tile, profiles), write_time(1, tile, profiles));
  const SimTime both = moved * one + (all - moved) * page_time(tile, profiles);
  const std::int64_t words = ceil_div(tile.value(), kWord.value());
  PlannedProgram planned = plan_steps(split_work(all, spread ? grid : CoreGrid{1, 1}),
                                      {.all_steps = all,
                                       .set_up = words * profiles.software.tiles.store,
                                       .write = SimTime::picoseconds(ceil_div(both.ps(), all)),
                                       .reads = Bytes(ceil_div(moved * tile.value(), all)),
                                       .writes = tile},
                                      grid, profiles);
  planned.kernel.dram = (moved + all) * tile;
  return planned;
}

}  // namespace

bool slices_whole_tiles(const Program& program, const SliceAttributes& attributes) {
  const auto& [first, second, rows, columns] = attributes.begins;
  const Shape& in = program.inputs[0].spec.shape;
  const Shape& out = program.outputs[0].spec.shape;
  const auto ends_well = [](std::int64_t end, std::int64_t size) {
    return end % kTileSide == 0 || end == size;
  };
  return attributes.steps == std::array<std::int64_t, 4>{1, 1, 1, 1} && rows % kTileSide == 0 &&
         columns % kTileSide == 0 && ends_well(rows + out.rows(), in.rows()) &&
         ends_well(columns + out.columns(), in.columns());
}

PlannedProgram plan(const SliceAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& out = program.outputs[0].spec;
  if (out.layout == Layout::tile) {
    return plan_move_tiles(program, out.shape.tiles(), grid, profiles);
  }
  const std::int64_t rows = out.shape.batch() * out.shape.rows();
  // The kernel for steps reads a row whole and copies what is wanted byte by byte.
  const bool steps = attributes.steps != Sides{1, 1, 1, 1};
  const SimTime picking =
      steps ? row_bytes(out).value() * profiles.software.movement.picked_byte : SimTime();
  return plan_sticks(program, rows, grid, profiles, picking);
}

PlannedProgram plan(const WriteRowsAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return plan_write_rows(program, attributes.row, grid, profiles);
}

PlannedProgram plan(const UpdateCacheAttributes&, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  return plan_write_rows(program, std::nullopt, grid, profiles);
}

PlannedProgram plan(const PadAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  if (out.layout == Layout::row_major) {
    return plan_sticks(program, in.shape.batch() * in.shape.rows(), grid, profiles);
  }
  return plan_padded_tiles(attributes, program, grid, profiles);
}

PlannedProgram plan(const PermuteAttributes& attributes, const Program& program, CoreGrid grid,
                    const Profiles& profiles) {
  using Order = std::array<int, 4>;
  const Order& order = attributes.order;
  if (program.outputs[0].spec.layout == Layout::row_major) {
    const Shape& in = program.inputs[0].spec.shape;
    return plan_sticks(program, in.batch() * in.rows(), grid, profiles);
  }
  if (order == Order{0, 1, 3, 2})
    return plan(TransposeAttributes{.swap = Swap::rows_columns}, program, grid, profiles);
  if (order == Order{0, 2, 1, 3})
    return plan(TransposeAttributes{.swap = Swap::heads_rows}, program, grid, profiles);
  if (order[2] == 2 && order[3] == 3) {
    return plan_move_tiles(program, program.outputs[0].spec.shape.tiles(), grid, profiles);
  }
  return plan_face_lines(program, order[3] != 3, grid, profiles);
}

}  // namespace howard::chip
