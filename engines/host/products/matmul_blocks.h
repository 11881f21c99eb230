// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/host/products/matmul_shape.h"

namespace howard::host {

/// Of one number of a product's factors and results, which are bfloat16 or float32.
inline std::int64_t bytes_of(DataType dtype) { return dtype == DataType::float32 ? 4 : 2; }

/// How a product is cut: how far a block of C reaches, which one thread computes and finishes while
/// it is in a cache, and in what parts it does.
struct BlockSize {
  std::int64_t matrices = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t part_columns = 0;
  std::int64_t part_k = 0;  ///< Of the sum.
};

/// What oneDNN is given at a time: a part of a block, and of the sum.
struct PartSize {
  std::int64_t matrices = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t k = 0;
  bool adds = false;  ///< To what is there.

  friend bool operator==(const PartSize&, const PartSize&) = default;
};

/// The blocks that cut a product for `threads`: rows, columns, both, or whole matrices of the
/// batch. `shape` has the types that oneDNN multiplies in. What is left at an edge is smaller.
BlockSize block_size(const MatmulShape& shape, std::int64_t threads);

/// Whether it pays to store the parts of B that blocks need once as oneDNN likes them best, for all
/// blocks.
bool packing_pays(const MatmulShape& shape);

}  // namespace howard::host
