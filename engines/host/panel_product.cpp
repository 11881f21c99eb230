// SPDX-License-Identifier: Apache-2.0
#include "engines/host/panel_product.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"
#include "engines/host/kernel.h"

namespace howard::host {
namespace {

/// A block of C in float32 and its rows of A, kDepth of them at a time, fit in half of a second
/// cache of 2 MiB.
constexpr std::int64_t kBlockRows = 128;
constexpr std::int64_t kBlockColumns = 512;
/// Elements of a block that are finished at a time: they stay in the first cache.
constexpr std::int64_t kFinished = 4096;
/// Elements of B that are worth another thread.
constexpr std::int64_t kPackedGrain = 8192;

std::int64_t rounded_up(std::int64_t value, std::int64_t step) {
  return ceil_div(value, step) * step;
}

constexpr std::int64_t kFloat = 4;  // Bytes.

}  // namespace

struct PanelProduct::Job {
  const MatmulOperands& operands;
  const Finish& finish;
  float* tiles = nullptr;  ///< Packed rows of A.
  float* block = nullptr;  ///< Of C.
};

PanelProduct::PanelProduct(const MatmulShape& shape, int threads, const PanelKernel& kernel)
    : shape_(shape), kernel_(kernel) {
  choose_blocks(threads);
  const std::int64_t tiles = ceil_div(block_rows_, kernel_.rows) * kernel_.tile_length;
  const std::int64_t one_b = shape.k * padded_columns();
  own_ = Bytes((tiles + block_rows_ * block_columns_ + (packs_whole_b_ ? 0 : one_b)) * kFloat);
  if (packs_whole_b_) common_ = Bytes(one_b * (shape.one_b ? 1 : shape.batch) * kFloat);
}

std::int64_t PanelProduct::panels() const { return ceil_div(shape_.n, kernel_.columns); }

void PanelProduct::choose_blocks(std::int64_t threads) {
  packs_whole_b_ = shape_.batch < threads && shape_.flops() >= kSmallProduct;
  column_blocks_ = ceil_div(shape_.n, kBlockColumns);
  row_blocks_ = ceil_div(shape_.m, kBlockRows);
  if (packs_whole_b_) {
    // As many blocks for each thread; not so low that they are all edges.
    const std::int64_t most = std::max(std::int64_t{1}, shape_.m / (2 * kernel_.rows));
    row_blocks_ = rounded_up(row_blocks_, ceil_div(threads, shape_.batch * column_blocks_));
    row_blocks_ = std::min(row_blocks_, most);
    column_blocks_ =
        std::max(column_blocks_, std::min(ceil_div(threads, shape_.batch * row_blocks_), panels()));
  }
  block_rows_ = ceil_div(shape_.m, row_blocks_);
  block_columns_ = rounded_up(ceil_div(shape_.n, column_blocks_), kernel_.columns);
  row_blocks_ = ceil_div(shape_.m, block_rows_);
  column_blocks_ = ceil_div(shape_.n, block_columns_);
  const std::int64_t blocks = shape_.batch * row_blocks_ * column_blocks_;
  constexpr std::int64_t kRangesPerThread = 4;
  jobs_ = packs_whole_b_                   ? blocks
          : shape_.flops() < kSmallProduct ? 1
                                           : std::min(shape_.batch, threads * kRangesPerThread);
}

PanelProduct::Block PanelProduct::block(std::int64_t index) const {
  Block block;
  block.matrix = index / (row_blocks_ * column_blocks_);
  block.row = index / column_blocks_ % row_blocks_ * block_rows_;
  block.column = index % column_blocks_ * block_columns_;
  block.rows = std::min(block_rows_, shape_.m - block.row);
  block.columns = std::min(block_columns_, shape_.n - block.column);
  return block;
}

void PanelProduct::run(const MatmulOperands& operands, WorkerPool& pool, Workspace& workspace,
                       const Finish& finish) const {
  workspace.require(own_, common_);
  if (shape_.dtype == DataType::float32) {
    run_as<float>(operands, pool, workspace, finish);
  } else {
    run_as<Half>(operands, pool, workspace, finish);
  }
}

template <class T>
void PanelProduct::run_as(const MatmulOperands& operands, WorkerPool& pool, Workspace& workspace,
                          const Finish& finish) const {
  const auto& [batch, m, k, n, one_a, one_b, ta, tb, bias, dtype, result] = shape_;
  const Factors<T> factors{{reinterpret_cast<const T*>(operands.a), ta ? 1 : k, ta ? m : 1},
                           {reinterpret_cast<const T*>(operands.b), tb ? 1 : n, tb ? k : 1}};
  const std::int64_t one = k * padded_columns();
  const std::int64_t panels = this->panels();
  if (packs_whole_b_) {
    const std::int64_t grain = std::max(std::int64_t{1}, kPackedGrain / (k * kernel_.columns));
    share(pool, panels * (one_b ? 1 : batch), grain,
          [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t i = begin; i < end; ++i) {
              const std::int64_t matrix = i / panels;
              pack_b(factors, matrix, i % panels, i % panels + 1,
                     workspace.common_floats() + matrix * one);
            }
          });
  }
  const std::int64_t blocks = batch * row_blocks_ * column_blocks_;
  pool.run(static_cast<int>(jobs_), [&](int index, int worker) {
    float* own = workspace.floats(worker);
    float* tiles = own + block_rows_ * block_columns_;
    float* own_b = tiles + ceil_div(block_rows_, kernel_.rows) * kernel_.tile_length;
    const Job job{operands, finish, tiles, own};
    std::int64_t packed = -1;
    const std::int64_t end = blocks * (index + 1) / jobs_;
    for (std::int64_t i = blocks * index / jobs_; i < end; ++i) {
      const Block block = this->block(i);
      const std::int64_t matrix = shape_.one_b ? 0 : block.matrix;
      if (!packs_whole_b_ && packed != matrix) pack_b(factors, matrix, 0, panels, own_b);
      packed = matrix;
      run_block(factors, block, packs_whole_b_ ? workspace.common_floats() + matrix * one : own_b,
                job);
    }
  });
}

template <class T>
void PanelProduct::pack_b(const Factors<T>& factors, std::int64_t matrix, std::int64_t first,
                          std::int64_t last, float* to) const {
  const auto pack = kernel_.pack_panel<T>();
  Strided<T> b = factors.b;
  b.values += matrix * shape_.k * shape_.n;
  for (std::int64_t panel = first; panel < last; ++panel) {
    const std::int64_t column = panel * kernel_.columns;
    const std::int64_t columns = std::min(kernel_.columns, shape_.n - column);
    pack(b.at(0, column), shape_.k, columns, to + column * shape_.k);
  }
}

template <class T>
void PanelProduct::run_block(const Factors<T>& factors, const Block& block, const float* b,
                             const Job& job) const {
  Strided<T> a = factors.a;
  if (!shape_.one_a) a.values += block.matrix * shape_.m * shape_.k;
  const bool by_row = a.column == 1;
  const auto& multiply = by_row ? kernel_.by_row : kernel_.by_column;
  const auto pack = kernel_.pack_tile<T>();
  const std::int64_t step = rounded_up(block.columns, kernel_.columns);
  const std::int64_t tiles = ceil_div(block.rows, kernel_.rows);
  std::array<std::int64_t, kBlockRows + 1> first_rows{};
  for (std::int64_t tile = 0; tile <= tiles; ++tile) {
    first_rows[static_cast<std::size_t>(tile)] = block.rows * tile / tiles;
  }
  const auto first_row = [&](std::int64_t tile) {
    return first_rows[static_cast<std::size_t>(tile)];
  };
  for (std::int64_t k = 0; k < shape_.k; k += PanelKernel::kDepth) {
    const std::int64_t depth = std::min(PanelKernel::kDepth, shape_.k - k);
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      const std::int64_t row = first_row(tile);
      const std::int64_t rows = by_row ? first_row(tile + 1) - row : shape_.m - block.row - row;
      pack(a.at(block.row + row, k), rows, depth, job.tiles + tile * kernel_.tile_length);
    }
    for (std::int64_t column = 0; column < block.columns; column += kernel_.columns) {
      const float* panel = b + (block.column + column) * shape_.k + k * kernel_.columns;
      for (std::int64_t tile = 0; tile < tiles; ++tile) {
        const std::int64_t row = first_row(tile);
        const auto height = static_cast<std::size_t>(first_row(tile + 1) - row);
        const bool calls_next = tile == 1 && column + kernel_.columns < block.columns;
        multiply[height - 1](job.tiles + tile * kernel_.tile_length, panel, depth,
                             job.block + row * step + column, step, k != 0,
                             calls_next ? panel + shape_.k * kernel_.columns : panel);
      }
    }
  }
  const bool whole = block.columns == shape_.n && step == shape_.n;
  const std::int64_t rows = whole ? std::max(std::int64_t{1}, kFinished / step) : 1;
  for (std::int64_t row = 0; row < block.rows; row += rows) {
    finish_rows(block, row, std::min(rows, block.rows - row), job.block + row * step, job);
  }
}

void PanelProduct::finish_rows(const Block& block, std::int64_t row, std::int64_t rows,
                               float* values, const Job& job) const {
  const std::int64_t first = (block.matrix * shape_.m + block.row + row) * shape_.n + block.column;
  const std::int64_t count = rows * block.columns;
  const bool half = shape_.result == DataType::bfloat16;
  if (shape_.bias) {
    with_type(shape_.dtype, [&](auto type) {
      const auto* bias =
          reinterpret_cast<const typename decltype(type)::type*>(job.operands.bias) + block.column;
      const std::int64_t columns = block.columns;
      for (std::int64_t i = 0; i < rows; ++i) {
        vectorised([=, own = values + i * columns]() HOWARD_INLINE {
          for_each(columns, [=](std::int64_t j) HOWARD_INLINE { own[j] += load(bias, j); });
        });
      }
    });
  }
  auto* halves = reinterpret_cast<Half*>(job.operands.c) + first;
  if (half && job.finish.stores) {
    vectorised([=]() HOWARD_INLINE {
      for_each(count, [=](std::int64_t i) HOWARD_INLINE {
        const std::uint32_t rounded = to_bfloat16_above(values[i]);
        values[i] = std::bit_cast<float>(rounded & 0xffff'0000);
        halves[i] = static_cast<Half>(rounded >> 16);
      });
    });
  } else if (half && job.finish.rounds) {
    vectorised([=]() HOWARD_INLINE {
      for_each(count, [=](std::int64_t i) HOWARD_INLINE {
        values[i] = std::bit_cast<float>(to_bfloat16_above(values[i]) & 0xffff'0000);
      });
    });
  } else if (job.finish.stores) {
    std::copy(values, values + count, reinterpret_cast<float*>(job.operands.c) + first);
  }
  if (job.finish.pass != nullptr) {
    job.finish.pass->run_range(first, first + count, reinterpret_cast<const std::byte*>(values));
  }
}

}  // namespace howard::host
