// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/plan/kernel_buffers.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "engines/chip/kernels/plan/work_split.h"

namespace howard::chip {
namespace {

// Each rule is that of the op's program factory in tt-metal (ttnn/cpp/ttnn/operations, November
// 2025), whose circular buffers it counts in the factory's order.

/// What the buffers depend on besides the program.
struct Room {
  CoreGrid grid;
  Bytes l1;
};
using Need = std::optional<KernelBuffers>;

/// The format of scalers and of sums, which are packed as bfloat16 unless they are fp32.
Bytes sum_tile(bool fp32) { return tile_bytes(fp32 ? DataType::float32 : DataType::bfloat16); }

bool is_own_buffer(const TensorSpec& spec) { return spec.sharding && spec.storage == Storage::l1; }

/// Returns what buffers of so many tiles of a tensor take.
Bytes buffered(const TensorSpec& spec, std::int64_t tiles = 2) {
  return is_own_buffer(spec) ? Bytes() : tiles * tile_bytes(spec.dtype);
}

Bytes row_bytes_of(const TensorSpec& spec) {
  const std::int64_t rows = spec.shape.batch() * spec.shape.rows();
  return Bytes(ceil_div(spec.host_bytes().value(), rows));
}

bool all_tiles(const Program& program) {
  const auto is_tile = [](const Operand& operand) { return operand.spec.layout == Layout::tile; };
  return std::ranges::all_of(program.inputs, is_tile) &&
         std::ranges::all_of(program.outputs, is_tile);
}

Need exactly(Bytes size) { return KernelBuffers::of(size); }
Need about(Bytes size, Bytes least = {}) { return KernelBuffers{size, false, least}; }

template <class Kind>
Need need_of(const Kind&, const Program&, const Room&) {
  return std::nullopt;
}

/// Two tiles of each tensor, one of a scalar of a binary op, and one for what the functions on an
/// operand make of it.
Need need_of(const EltwiseAttributes& op, const Program& program, const Room&) {
  if (program.inputs.empty() || !all_tiles(program)) return std::nullopt;
  Bytes size = buffered(program.outputs[0].spec);
  for (const Operand& input : program.inputs) size += buffered(input.spec);
  const Bytes tile = tile_bytes(program.inputs[0].spec.dtype);
  const bool binary = arity_of(op.function) == 2;
  if (op.scalar && binary && op.function != Eltwise::pow) size += tile;
  if (!op.on_a.empty()) size += tile;
  if (!op.on_b.empty()) size += tile_bytes(program.inputs.back().spec.dtype);
  return exactly(size);
}

/// Two tiles of the operand, of the scaler and of the result.
Need need_of(const ReduceAttributes& op, const Program& program, const Room&) {
  if (op.moreh || !all_tiles(program)) return std::nullopt;
  const TensorSpec& in = program.inputs[0].spec;
  const bool in_place = op.dimension == Dimension::batch;
  const Bytes scaler = 2 * sum_tile(false);
  const Bytes size = buffered(in) + scaler + buffered(program.outputs[0].spec);
  return in_place ? about(size) : exactly(size);
}

Need need_of(const SoftmaxAttributes& op, const Program& program, const Room& room) {
  const TensorSpec& in = program.inputs[0].spec;
  if (is_own_buffer(in) || in.layout != Layout::tile) return std::nullopt;
  constexpr std::int64_t kLargeRow = 80;  // tiles of a row that is too long for L1
  const Bytes sums = sum_tile(op.fp32_accumulation), scaler = sum_tile(false);
  const std::int64_t block = tiles_at_a_time(in.shape.tile_columns(), op.fp32_accumulation ? 4 : 8);
  const auto size_of = [&](std::int64_t row) {
    const std::int64_t input = op.stable ? row : 2 * block;
    Bytes size =
        input * tile_bytes(in.dtype) + 2 * block * tile_bytes(program.outputs[0].spec.dtype);
    size += row * sums + sums + 2 * scaler;    // exponentials, 1 / sum, the scaler and the padding
    if (op.stable) size += row * sums + sums;  // less the largest, the largest
    if (op.masked) size += 2 * row * sums + scaler;
    return size;
  };
  const Bytes whole = size_of(in.shape.tile_columns());
  return whole < room.l1 ? exactly(whole) : about(size_of(kLargeRow));
}

Need norm_of(const Program& program, const Room& room, bool sums, bool fp32, bool centered) {
  const TensorSpec& in = program.inputs[0].spec;
  if (is_own_buffer(in) || in.layout != Layout::tile) return std::nullopt;
  const bool gamma = program.inputs.size() > 1;
  return norm_buffers({.in = in.dtype,
                       .out = program.outputs[0].spec.dtype,
                       .weights = gamma ? program.inputs[1].spec.dtype : DataType::bfloat16,
                       .columns = in.shape.tile_columns(),
                       .gamma = gamma,
                       .residual = sums,
                       .centered = centered,
                       .fp32_accumulation = fp32},
                      room.l1);
}
Need need_of(const RmsNormAttributes& op, const Program& program, const Room& room) {
  return norm_of(program, room, op.sums, op.fp32_accumulation, false);
}
Need need_of(const LayernormAttributes& op, const Program& program, const Room& room) {
  return norm_of(program, room, op.sums, op.fp32_accumulation, true);
}

/// Two tiles of each of nine buffers: operand, mean, result, variance, epsilon, the root, the
/// difference, and the weights, whether there are some or not.
Need need_of(const BatchNormAttributes&, const Program& program, const Room&) {
  const Bytes tile = tile_bytes(program.inputs[0].spec.dtype);
  return exactly(8 * 2 * tile + 2 * tile_bytes(program.outputs[0].spec.dtype));
}

/// A block of a row of tiles and what becomes of it, twice if a core that untilizes has several.
Need need_of(const LayoutAttributes& op, const Program& program, const Room& room) {
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  if (is_own_buffer(in) && is_own_buffer(out)) return exactly(Bytes());
  const CoreGrid grid = op.use_multicore ? room.grid : CoreGrid{1, 1};
  const std::int64_t rows = in.shape.batch() * in.shape.tile_rows();
  const std::int64_t columns = in.shape.tile_columns();
  const auto block = split_blocks(rows, columns, grid);
  const std::int64_t tiles = block ? block->columns : columns;
  const std::int64_t own = block ? block->rows : split_work(rows, grid).busiest;
  const std::int64_t copies = out.layout == Layout::row_major && own > 1 ? 2 : 1;
  const Bytes size = copies * (buffered(in, tiles) + buffered(out, tiles));
  // Rows that do not fit are cut into blocks, where ttnn has not cut them already.
  if (!block && size > room.l1) return about(std::min(size, room.l1));
  return exactly(size);
}

/// Two tiles of the operand and two of the result.
Need need_of(const TransposeAttributes& op, const Program& program, const Room&) {
  if (op.swap != Swap::rows_columns || !all_tiles(program)) return std::nullopt;
  return exactly(buffered(program.inputs[0].spec) + buffered(program.outputs[0].spec));
}
Need need_of(const MemoryMoveAttributes&, const Program& program, const Room&) {
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  if (in.layout != Layout::tile) return about(2 * row_bytes_of(in));
  if (in.sharding || out.sharding) return about(buffered(in) + buffered(out));
  return exactly(buffered(in) + buffered(out));
}

/// A tile of each, and the map of a tile of the result: four words for each run of elements that
/// stay together, which ends with a face of either tensor.
Need need_of(const ReshapeAttributes&, const Program& program, const Room&) {
  constexpr std::int64_t kFaceSide = kTileSide / 2;
  constexpr Bytes kRun{16};
  const TensorSpec& in = program.inputs[0].spec;
  const TensorSpec& out = program.outputs[0].spec;
  if (!all_tiles(program)) return std::nullopt;
  const bool even = in.shape.columns() % kFaceSide == 0 && out.shape.columns() % kFaceSide == 0;
  const std::int64_t runs = std::min(kTileSide, out.shape.rows()) *
                            std::min<std::int64_t>(2, ceil_div(out.shape.columns(), kFaceSide));
  const Bytes size = buffered(in, 1) + buffered(out, 1) + (even ? 1 : 2) * runs * kRun;
  return even ? exactly(size) : about(size);
}

Need need_of(const SliceAttributes&, const Program& program, const Room&) {
  if (!all_tiles(program)) return about(2 * row_bytes_of(program.inputs[0].spec));
  return exactly(buffered(program.inputs[0].spec));
}
Need need_of(const ConcatAttributes&, const Program& program, const Room&) {
  if (!all_tiles(program)) return about(2 * row_bytes_of(program.outputs[0].spec));
  return exactly(buffered(program.outputs[0].spec));
}
/// Two tiles and one of padding, or rows of the result and one of padding.
Need need_of(const PadAttributes&, const Program& program, const Room&) {
  const TensorSpec& out = program.outputs[0].spec;
  if (!all_tiles(program)) return about(3 * row_bytes_of(out), row_bytes_of(out));
  return exactly(buffered(out, 3));
}
Need need_of(const RepeatAttributes&, const Program& program, const Room&) {
  return about(2 * row_bytes_of(program.inputs[0].spec));
}

/// Rows of the table, two at a time, or a row of tiles before and after they are tilized; and the
/// indices of a step.
Need need_of(const EmbeddingAttributes&, const Program& program, const Room&) {
  const TensorSpec& out = program.outputs[0].spec;
  constexpr Bytes kIndices{4 * kTileSide};
  if (out.layout == Layout::row_major) {
    return about(2 * row_bytes_of(out) + kIndices, row_bytes_of(out));
  }
  const std::int64_t tiles = out.shape.tile_columns();
  const Bytes size = tiles * tile_bytes(program.inputs[1].spec.dtype) + buffered(out, tiles);
  return about(size + kIndices, size);
}

Need need_of(const EmbeddingBackwardAttributes&, const Program& program, const Room& room) {
  return embedding_backward_buffers(program.inputs[1].spec, program.outputs[0].spec, Bytes(4),
                                    room.grid);
}

/// A row of the operand, and a row of the places.
Need need_of(const ArgmaxAttributes&, const Program& program, const Room&) {
  const TensorSpec& in = program.inputs[0].spec;
  return exactly(row_bytes_of(in) + in.shape.rows() * Bytes(4));
}

/// Values and their places in steps of two tiles: four come in and two leave; a row of each lies
/// transposed between. Places have 16 bits. One more tile, of bytes, keeps the steps in order.
Need need_of(const SortAttributes&, const Program& program, const Room&) {
  const TensorSpec& in = program.inputs[0].spec;
  const std::int64_t columns = in.shape.tile_columns();
  constexpr std::int64_t kMostOnOneCore = 64;
  const Bytes value = tile_bytes(in.dtype), place(2 * kTileSide * kTileSide);
  const Bytes size = (4 + columns + 2) * (value + place) + Bytes(kTileSide * kTileSide);
  return columns <= kMostOnOneCore ? exactly(size) : Need();
}

/// Four tiles of each of four buffers: operand, start, sum and result.
Need need_of(const CumsumAttributes&, const Program& program, const Room&) {
  return exactly(4 * 4 * tile_bytes(program.inputs[0].spec.dtype));
}

/// The buffers of a chunk of queries and of two chunks of keys, values and masks, what becomes of
/// them, and the largest scores and sums of rows.
Need need_of(const AttentionAttributes& op, const Program& program, const Room&) {
  const TensorSpec& q = program.inputs[0].spec;
  const TensorSpec& k = program.inputs[1].spec;
  const TensorSpec& v = program.inputs[2].spec;
  const std::int64_t rows = ceil_div(op.query_chunk, kTileSide);
  const std::int64_t keys = ceil_div(op.key_chunk, kTileSide);
  const std::int64_t d = q.shape.tile_columns(), wide = v.shape.tile_columns();
  const Bytes sums = sum_tile(false);
  Bytes size = 2 * (rows * d * tile_bytes(q.dtype) + keys * d * tile_bytes(k.dtype) +
                    keys * wide * tile_bytes(v.dtype));
  if (op.causal || program.inputs.size() > 3) {
    const bool given = program.inputs.size() > 3;
    size += 2 * rows * keys * tile_bytes(given ? program.inputs[3].spec.dtype : DataType::bfloat16);
  }
  size += rows * keys * sums + 2 * rows * wide * sums + 5 * rows * sums + 2 * sums;
  size += rows * wide * tile_bytes(program.outputs[0].spec.dtype);
  return about(size, size);
}

/// A block of activations in rows and in tiles, the weights of all rows of the window, partial sums
/// unless the result's shard holds them, and the firmware's array. Sticks of interleaved images are
/// padded to whole pages of DRAM.
Need need_of(const Conv2dAttributes& op, const Program& program, const Room& room) {
  if (op.sharding != ShardLayout::height) return std::nullopt;
  constexpr std::int64_t kChannels = 16;
  constexpr Bytes kArray{64};
  const Shape& x = program.inputs[0].spec.shape;
  const TensorSpec& out = program.outputs[0].spec;
  const std::int64_t stops = ceil_div(op.window.places_out(), kTileSide);
  const std::int64_t cores = op.cores > 0 ? op.cores : room.grid.cores();
  const std::int64_t all = ceil_div(stops, std::min(stops, cores));
  const std::int64_t block = op.act_block_h > 0 ? std::min(op.act_block_h, all) : all;
  const std::int64_t channels = ceil_div(x.columns(), kChannels) * kChannels;
  const std::int64_t step = ceil_div(channels * op.window.size[1], kTileSide);
  const Bytes tile = tile_bytes(DataType::bfloat16);
  const bool wide = op.compute.fp32_accumulation.value_or(false);
  const std::int64_t columns = out.shape.tile_columns();
  Bytes size = (op.double_buffers_x ? 3 : 2) * block * step * tile + kArray;
  size += (op.double_buffers_weights ? 2 : 1) * step * columns * op.window.size[0] *
          tile_bytes(program.inputs[1].spec.dtype);
  if (wide || out.dtype != DataType::bfloat16) size += block * columns * sum_tile(wide);
  return about(size);
}

}  // namespace

std::int64_t tiles_at_a_time(std::int64_t columns, std::int64_t most) {
  for (std::int64_t tiles = most; tiles > 1; --tiles) {
    if (tiles != 5 && tiles != 7 && columns % tiles == 0) return tiles;
  }
  return 1;
}

KernelBuffers norm_buffers(const NormKernel& norm, Bytes l1) {
  const Bytes in = tile_bytes(norm.in), out = tile_bytes(norm.out);
  const Bytes weights = tile_bytes(norm.weights);
  const Bytes sums = sum_tile(norm.fp32_accumulation), scaler = sum_tile(false);
  const bool scaled = norm.gamma || norm.beta;
  const auto size_of = [&](std::int64_t row) {
    const std::int64_t block = tiles_at_a_time(row, norm.fp32_accumulation ? 4 : 8);
    Bytes size = (norm.residual ? 4 * block : row) * in + 2 * block * out;
    if (norm.residual) size += row * sums;
    size += row * sums;                     // squares
    size += 2 * scaler + 2 * scaler;        // the scaler and epsilon
    size += 2 * sums + 8 * sums;            // the mean square and its root
    if (norm.centered) size += 2 * sums;    // the mean
    if (norm.centered) size += row * sums;  // the differences from it
    if (scaled) size += 2 * block * sums;   // between the two weights
    size += (norm.gamma ? row * weights : Bytes()) + (norm.beta ? row * weights : Bytes());
    return size;
  };
  const Bytes whole = size_of(norm.columns);
  if (whole < l1) return KernelBuffers::of(whole);
  // Rows that do not fit are gone through in parts.
  return {.size = size_of(std::min<std::int64_t>(norm.columns, scaled ? 56 : 112))};
}

KernelBuffers embedding_backward_buffers(const TensorSpec& dy, const TensorSpec& table, Bytes index,
                                         CoreGrid grid) {
  // The tiles of a core's columns of the gradient, of the table and of their sum, 32 indices, their
  // mask and a counter.
  constexpr Bytes kMask{kTileSide}, kCounter{16};
  const std::int64_t tiles = split_work(dy.shape.tile_columns(), grid).busiest;
  return KernelBuffers::of(tiles * (2 * tile_bytes(dy.dtype) + tile_bytes(table.dtype)) +
                           kTileSide * index + kMask + kCounter);
}

KernelBuffers kernel_buffers(const Program& program, CoreGrid grid, Bytes l1, int count) {
  const Room room{grid, l1};
  const Need need = std::visit([&](const auto& op) { return need_of(op, program, room); },
                               program.attributes.variant());
  return need.value_or(KernelBuffers{.size = count * (2 * tile_bytes(DataType::float32))});
}

}  // namespace howard::chip
