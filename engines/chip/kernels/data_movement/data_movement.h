// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "engines/program/program.h"

namespace howard::chip {

// These kernels move data and compute little or nothing. Their cost is requests, barriers and
// copying by RISCs.

/// Returns how many rows of a tile of `shape` hold data.
std::int64_t rows_in_tile(const Shape& shape);
Bytes row_bytes(const TensorSpec& spec);
/// Returns the time to unpack tiles and pack them again, at one rate.
SimTime repack_time(std::int64_t tiles, Bytes tile, const ChipProfile& chip);

/// Plans the swap of rows and columns, in which tiles change places and are transposed.
PlannedProgram plan_transpose(const Program& program, CoreGrid grid, const Profiles& profiles);
/// Swaps dimension 1 and the rows: each row of each tile goes to another tile, face by face.
PlannedProgram plan_transpose_heads(const Program& program, CoreGrid grid,
                                    const Profiles& profiles);

/// Changes the shape in tile layout: each output tile is put together from the tiles that hold its
/// rows.
PlannedProgram plan_reshape(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Tilizes or untilizes: a core takes 32 rows at a time.
PlannedProgram plan_layout(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Copies whole tiles to other places. The cores share `units`, which have equal numbers of tiles.
PlannedProgram plan_move_tiles(const Program& program, std::int64_t units, CoreGrid grid,
                               const Profiles& profiles);

/// Plans the heads of rows. Where operands and results are shards, which hold whole heads, each
/// core copies the tiles of its own: ttnn's create_qkv_heads, with a transposition of keys if they
/// are wanted so. Other tensors are read and written tile by tile.
PlannedProgram plan_split_heads(const Program& program, bool transposes_k, CoreGrid grid,
                                const Profiles& profiles);
/// Plans rows of heads, likewise.
PlannedProgram plan_concat_heads(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Plans the repetition of heads: each row of a row-major tensor is read once and written as often
/// as there are copies, with a barrier each.
PlannedProgram plan_repeat(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Plans the look-up of a row of the table for each index, one after the other, tilized 32 at a
/// time.
PlannedProgram plan_embedding(const Program& program, CoreGrid grid, const Profiles& profiles);

/// Computes the gradient of the table. The planner does not know the indices; its time assumes that
/// they are spread over the table.
PlannedProgram plan_embedding_backward(const Program& program, CoreGrid grid,
                                       const Profiles& profiles);

/// Plans the move of a tensor to another memory: from interleaved to sharded, back, from shards to
/// other shards, or from one interleaved memory to another.
PlannedProgram plan_memory_move(const Program& program, CoreGrid grid, const Profiles& profiles);

// These kernels of a decoding step move rows of tiles, half a row at a time, between the L1 of
// cores. A core holds a sequence, or a part of the result's columns.

PlannedProgram plan_split_heads_decode(const Program& program, CoreGrid grid,
                                       const Profiles& profiles);
PlannedProgram plan_concat_heads_decode(const Program& program, CoreGrid grid,
                                        const Profiles& profiles);
/// Plans the writing of a row of each head of a sequence into a cache. The core of the sequence
/// reads the tiles that hold the row, untilizes them, replaces the row, tilizes and writes them.
PlannedProgram plan_paged_update_cache(const Program& program, CoreGrid grid,
                                       const Profiles& profiles);

// These kernels move parts of tensors: whole tiles one by one, rows of row-major tensors, or the
// lines of faces if the rows of a tile go to different tiles.

/// Says whether ttnn slices the tiles as they are. It brings other slices into rows and back.
bool slices_whole_tiles(const Program& program, const SliceAttributes& attributes);

PlannedProgram plan_slice(const Program& program, CoreGrid grid, const Profiles& profiles);
/// Plans rows that are written into a cache. Whole tiles are moved as they are. For other rows, as
/// in ttnn's update_cache, a core reads the tiles of a head's rows and of the cache's, untilizes
/// both, replaces the rows, tilizes and writes. The latter is by analogy: no measurement of it is
/// known.
/// `row` is absent where it is not known before the program runs.
PlannedProgram plan_write_rows(const Program& program, std::optional<std::int64_t> row,
                               CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_pad(const Program& program, CoreGrid grid, const Profiles& profiles);
PlannedProgram plan_permute(const Program& program, const PermuteAttributes& attributes,
                            CoreGrid grid, const Profiles& profiles);

}  // namespace howard::chip
