// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engines/host/element_pass.h"
#include "engines/host/matmul_shape.h"
#include "engines/host/worker_pool.h"
#include "engines/host/workspace.h"

namespace howard::host {

/// Whether oneDNN multiplies bfloat16 on this CPU, and faster than the CPU multiplies float32.
bool has_fast_bfloat16_products();

/// How products of one shape are computed: cut into blocks of rows or of columns, or of whole
/// matrices of the batch, each a single-threaded oneDNN primitive on a thread of the pool. oneDNN's
/// own threads (libgomp) would wait for the next product spinning, up to milliseconds, on the cores
/// that the pool needs for everything else.
///
/// The blocks depend on the shape and the number of threads alone, and no sum is split over blocks:
/// equal operands give equal bits.
class MatmulPlan {
 public:
  /// For `threads` workers. Throws what oneDNN throws: dnnl::error.
  MatmulPlan(const MatmulShape& shape, int threads);
  ~MatmulPlan();

  /// One thread calls it at a time, of all plans that share `workspace`. `after`, which reads C, is
  /// run on each block as soon as it is there, still in a cache; it stores to no factor.
  void run(const MatmulOperands& operands, WorkerPool& pool, Workspace& workspace,
           const ElementPass* after = nullptr);

 private:
  /// A rectangle of C, of one matrix or of several of the batch.
  struct Block {
    std::size_t primitive = 0;  ///< Index into primitives_.
    std::int64_t first = 0;     ///< Its first element in C.
    std::int64_t a = 0;         ///< Offsets of its first elements, in bytes.
    std::int64_t b = 0;
    std::int64_t bias = 0;
    std::int64_t c = 0;
  };
  struct Primitive;  ///< oneDNN's, for blocks of one size.
  struct Execution;  ///< What one worker needs to run one.

  std::size_t primitive_for(const MatmulShape& shape, std::int64_t matrices, std::int64_t rows,
                            std::int64_t columns);
  void run_block(const Block& block, const MatmulOperands& operands, int worker,
                 std::byte* scratch);
  void run_after(const Block& block, const ElementPass& after, const std::byte* c) const;

  std::int64_t columns_;       ///< Of C.
  std::int64_t result_bytes_;  ///< Of an element of C.
  std::vector<Block> blocks_;
  std::vector<Primitive> primitives_;
  std::vector<std::vector<Execution>> executions_;  ///< Of each worker, in primitives_' order.
  Bytes scratch_size_;
};

}  // namespace howard::host
