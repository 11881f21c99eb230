// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/host/kernels/matmul/gemm_traits.h"
#include "engines/host/kernels/matmul/matmul_shape.h"

namespace howard::host {

/// Returns the bytes of one number of a product's factors or result, which are bfloat16 or float32.
inline std::int64_t bytes_of(DataType dtype) { return dtype == DataType::float32 ? 4 : 2; }

/// Says how a product is cut into blocks of C. One thread computes a block, in parts, and finishes
/// it while it is in a cache.
struct BlockSize {
  std::int64_t matrices = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t part_columns = 0;
  std::int64_t part_k = 0;  ///< The length of the sum that a part covers.
};

/// The part of a block that oneDNN computes at a time, over a part of the sum.
struct PartSize {
  std::int64_t matrices = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t k = 0;
  bool adds = false;  ///< True if the part is added to what is already there.

  friend bool operator==(const PartSize&, const PartSize&) = default;
};

/// The number of elements from one stored row of a matrix to the next.
struct RowSteps {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
};

// `shape` has the types that oneDNN multiplies in; `gaps` says whether its gemm wants them.

/// Returns the blocks that cut a product for `threads`: by rows, columns, both, or whole matrices
/// of the batch. Blocks at an edge may be smaller.
BlockSize block_size(const MatmulShape& shape, std::int64_t threads, bool gaps);

/// Returns whether it pays to store the parts of B once, for all blocks to use: in the layout that
/// oneDNN prefers, or with gaps if its gemm reads them.
bool packing_pays(const MatmulShape& shape, bool gaps);

/// Returns whether it pays to copy what a part reads of a transposed A, with gaps.
bool copying_a_pays(const MatmulShape& shape, bool gaps);

/// The elements behind a row that is stored with a gap.
inline constexpr std::int64_t kGap = 16;

/// Returns the distance of rows of this length that are stored with gaps.
std::int64_t gapped(std::int64_t columns);

}  // namespace howard::host
