// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/matmul/matmul_blocks.h"

#include <algorithm>

namespace howard::host {
namespace {

/// Returns up to which size of B blocks of rows are faster. For bfloat16 this is half of a Zen 4
/// core's second-level cache. For float32, where oneDNN packs parts of B, it is far more (for
/// products that are not tiled, see below): on Sapphire Rapids, rows reach 1.07 of the rate of
/// columns at n = 2048 and 0.87 at 4096.
constexpr Bytes small_operand(DataType dtype) {
  return Bytes(std::int64_t{512} * 1024 * (dtype == DataType::float32 ? 32 : 1));
}
/// No block is narrower or lower than this: two vectors of float32, which is oneDNN's smallest full
/// kernel.
constexpr std::int64_t kSmallestSide = 32;
/// Blocks of this width or height still run at oneDNN's full rate.
constexpr std::int64_t kGoodColumns = 128;
constexpr std::int64_t kGoodRows = 256;
/// Several good blocks per thread even out the load when a core is taken away for a while.
constexpr std::int64_t kBlocksPerThread = 2;

/// This is for float32 where B is not small: a thread's blocks, and parts of them, with at most
/// this many rows and columns run at oneDNN's full rate.
constexpr std::int64_t kTile = 512;
/// From this many rows on, B is packed and blocks are bands.
constexpr std::int64_t kManyRows = 1024;
/// A band has at least this many rows, because oneDNN reads all of B for each band.
constexpr std::int64_t kFewestRows = 128;
/// Copying B costs as much as some 75 rows of the product gain by it on Zen 4 with AVX2, and
/// copying a transposed A less: with the 64 columns of a head of attention, the gradients of
/// attention over 1024 and 2048 positions reach 81 GFLOP/s in place of 44 and 42.
constexpr std::int64_t kRowsWorthCopying = 128;
constexpr std::int64_t kColumnsWorthCopying = 64;
/// Rows this many bytes apart share an eighth of the sets of a first-level cache or less.
constexpr std::int64_t kFewSets = 2048;

/// 384 rows of a result of this width fill half of the second-level cache of Sapphire Rapids.
constexpr std::int64_t kWidestInChunks = 1536;

/// Returns the side of the blocks when `length` is cut into `parts`.
std::int64_t side(std::int64_t length, std::int64_t parts) {
  return std::min(length, ceil_div(ceil_div(length, parts), kSmallestSide) * kSmallestSide);
}

/// Returns the side of the blocks that cut `length` for `wanted` threads, with equally many blocks
/// for each thread: a third block for two threads would leave one of them idle for a quarter of the
/// time.
std::int64_t block_side(std::int64_t length, std::int64_t wanted, std::int64_t good) {
  if (wanted == 1) return length;
  const std::int64_t each = std::clamp(length / (wanted * good), std::int64_t{1}, kBlocksPerThread);
  return side(length, wanted * each);
}

/// Returns how much of k is summed at a time. oneDNN copies a transposed (strided) A part by part.
/// If the parts are small, both the copied part and the block of C that it adds to stay in the
/// second-level cache. Measured for cold float32 products on two threads of Sapphire Rapids, in
/// GFLOP/s:
///
///                      whole k   chunks
///    1536x8192x384     233       288
///    1536x1024x384     252       296
///    2048x2048x2048    308       301
std::int64_t chunk_of_k(const MatmulShape& shape) {
  constexpr std::int64_t kChunk = 512;
  const bool sums = shape.result == DataType::float32;  // not rounded in between
  if (shape.batch > 1 || !shape.transpose_a || !sums || shape.n > kWidestInChunks) return shape.k;
  return side(shape.k, ceil_div(shape.k, kChunk));
}

/// Returns whether blocks are tiled. A transposed B that is not packed is copied for each tile;
/// with few rows that does not pay.
bool is_tiled(const MatmulShape& shape) {
  return shape.batch == 1 && !shape.transpose_a && shape.b == DataType::float32 &&
         (!shape.transpose_b || shape.m >= kManyRows) &&
         Bytes(shape.k * shape.n * bytes_of(shape.b)) > small_operand(DataType::bfloat16);
}

BlockSize tile_size(const MatmulShape& shape, std::int64_t threads) {
  const std::int64_t across = threads * ceil_div(shape.n, threads * kTile);
  const std::int64_t columns = side(shape.n, across);
  const std::int64_t down = ceil_div(threads * kBlocksPerThread, ceil_div(shape.n, columns));
  const std::int64_t rows = side(shape.m, std::max(down, ceil_div(shape.m, kTile)));
  return {.rows = rows, .columns = columns, .part_columns = columns, .part_k = shape.k};
}

/// Returns the size of bands, which are whole rows. The pass that follows walks through the rows
/// one after the other; on parts of rows it would wait for memory at each part (gelu's gradient for
/// 8192x1536 took 11.4 ms that way, and takes 7.2 ms on its own).
BlockSize band_size(const MatmulShape& shape, std::int64_t threads) {
  // A band fills half of the second-level cache.
  const std::int64_t fit =
      second_level_cache().value() / 2 / (shape.n * bytes_of(DataType::float32));
  const std::int64_t most = std::clamp(fit, kFewestRows, kTile);
  const std::int64_t each = std::max(kBlocksPerThread, ceil_div(ceil_div(shape.m, most), threads));
  // oneDNN computes a part of the columns with its gemm. For all columns at once it uses other
  // kernels, which reach 0.93 of the rate.
  const std::int64_t parts = std::max(std::int64_t{2}, ceil_div(shape.n, kTile));
  return {.rows = side(shape.m, each * threads),
          .columns = shape.n,
          .part_columns = side(shape.n, parts),
          .part_k = shape.k};
}

bool is_large_float32(const MatmulShape& shape) {
  return shape.a == DataType::float32 && shape.b == DataType::float32 &&
         shape.flops() >= kSmallProduct;
}

bool have_few_sets(std::int64_t columns) {
  return columns * bytes_of(DataType::float32) % kFewSets == 0;
}

/// Returns blocks of one matrix of several each, for a transposed A that is copied: what a block
/// copies fills half of the second-level cache.
BlockSize copied_size(const MatmulShape& shape) {
  const std::int64_t fit =
      second_level_cache().value() / 2 / (shape.k * bytes_of(DataType::float32));
  const std::int64_t rows = std::clamp(fit, kFewestRows, kTile);
  return {.rows = side(shape.m, ceil_div(shape.m, rows)),
          .columns = shape.n,
          .part_columns = shape.n,
          .part_k = shape.k};
}

}  // namespace

/// Each block of columns packs only its own part of B, and each block of rows packs all of B; but
/// oneDNN prefers wide blocks. For its half of a bfloat16 product of n x n x n, one Zen 4 thread
/// takes:
///
///    n       columns    rows
///    128     11.8 us    9.9 us
///    512     629 us     587 us
///    4096    (rows reach 0.63 of the rate of columns)
///
/// Both sides are cut only when one does not suffice for all threads, and single matrices are cut
/// only when there are fewer of them than threads.
BlockSize block_size(const MatmulShape& shape, std::int64_t threads, bool gaps) {
  BlockSize size{.rows = shape.m, .columns = shape.n, .part_columns = shape.n, .part_k = shape.k};
  if (shape.flops() < kSmallProduct) {
    size.matrices = shape.batch;
    return size;
  }
  if (shape.batch > 1 && copying_a_pays(shape, gaps)) return copied_size(shape);
  if (shape.batch >= threads) {
    size.matrices = threads == 1 ? shape.batch : ceil_div(shape.batch, threads * kBlocksPerThread);
    return size;
  }
  if (is_tiled(shape)) {
    return shape.m >= kManyRows ? band_size(shape, threads) : tile_size(shape, threads);
  }
  size.part_k = chunk_of_k(shape);
  const std::int64_t wanted = ceil_div(threads, shape.batch);
  if (Bytes(shape.k * shape.n * bytes_of(shape.b)) <= small_operand(shape.b)) {
    size.rows = block_side(shape.m, wanted, kGoodRows);
    size.columns =
        block_side(shape.n, ceil_div(wanted, ceil_div(shape.m, size.rows)), kGoodColumns);
  } else {
    size.columns = block_side(shape.n, wanted, kGoodColumns);
    size.rows = block_side(shape.m, ceil_div(wanted, ceil_div(shape.n, size.columns)), kGoodRows);
  }
  size.part_columns = size.columns;
  return size;
}

/// Follows what was measured for float32 on two threads of Sapphire Rapids, with factors not in a
/// cache, in GFLOP/s:
///
///                     packed   not    B transposed: packed   not
///    8192x384x1536    326      300    323                    300
///    2048x2048x2048   317      296
///    1024x384x1536                    303                    293
///    256x2048x2048    268      284    245                    283
///    1024x512x512     290      307
///
/// oneDNN's gemm for AVX2 reads a transposed B as fast as a packed one (1024x512x512 on one Zen 4
/// thread: 100 GFLOP/s), so there packing it only costs its own time, 3 to 5 % at 1024 rows.
///
/// Beside a transposed A, oneDNN's gemm for AVX-512 reads a B of some widths in place too. On one
/// thread of Sapphire Rapids, without gaps and with them, in GFLOP/s:
///
///    768x1024x2048    127    125
///    768x1024x2560     87    118
///    768x1024x3072     59    105
///    768x1024x4096    111    104
bool packing_pays(const MatmulShape& shape, bool gaps) {
  if (shape.batch > 1 || !is_large_float32(shape) || (gaps && shape.transpose_b)) return false;
  const bool in_place =
      gaps || (shape.transpose_a && !shape.transpose_b && shape.n > kWidestInChunks);
  if (in_place && have_few_sets(shape.n)) return shape.m >= kRowsWorthCopying;
  return is_tiled(shape) && shape.m >= kManyRows && (shape.transpose_b || shape.n > 2 * kTile);
}

bool copying_a_pays(const MatmulShape& shape, bool gaps) {
  return gaps && is_large_float32(shape) && shape.transpose_a && have_few_sets(shape.m) &&
         shape.n >= kColumnsWorthCopying;
}

std::int64_t gapped(std::int64_t columns) {
  const std::int64_t step = columns + kGap;
  return have_few_sets(step) ? step + kGap : step;
}

}  // namespace howard::host
