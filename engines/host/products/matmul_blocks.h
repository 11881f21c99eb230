// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/host/products/matmul_shape.h"

namespace howard::host {

/// Returns the bytes of one number of a product's factors or result, which are bfloat16 or float32.
inline std::int64_t bytes_of(DataType dtype) { return dtype == DataType::float32 ? 4 : 2; }

/// How a product is cut into blocks of C. One thread computes a block, in parts, and finishes it
/// while it is in a cache.
struct BlockSize {
  std::int64_t matrices = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t part_columns = 0;
  std::int64_t part_k = 0;  ///< The length of the sum that a part covers.
};

/// What oneDNN computes at a time: a part of a block, over a part of the sum.
struct PartSize {
  std::int64_t matrices = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t k = 0;
  bool adds = false;  ///< Whether the part is added to what is already there.

  friend bool operator==(const PartSize&, const PartSize&) = default;
};

/// Returns the blocks that cut a product for `threads`: by rows, columns, both, or whole matrices
/// of the batch. `shape` has the types that oneDNN multiplies in. Blocks at an edge may be smaller.
BlockSize block_size(const MatmulShape& shape, std::int64_t threads);

/// Returns whether it pays to store the parts of B once in the layout that oneDNN prefers, for all
/// blocks to use.
bool packing_pays(const MatmulShape& shape);

}  // namespace howard::host
