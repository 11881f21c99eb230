// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engines/host/element_pass.h"
#include "engines/host/matmul_shape.h"
#include "engines/host/panel_kernel.h"
#include "engines/host/worker_pool.h"
#include "engines/host/workspace.h"

namespace howard::host {

/// How products of one shape are computed with the PanelKernel of this CPU: B is packed into
/// panels, blocks of C are handed to the threads, and each packs its rows of A and stays within its
/// own cache. What is done to a block afterwards finds it there, in float32.
///
/// Each element of C is the sum over k in pieces of PanelKernel::kDepth, whatever the blocks: equal
/// operands give equal bits for any number of threads.
class PanelProduct {
 public:
  PanelProduct(const MatmulShape& shape, int threads, const PanelKernel& kernel);

  /// What becomes of a block of C.
  struct Finish {
    const ElementPass* pass = nullptr;  ///< Reads it as float32, and stores to no factor.
    bool stores = true;                 ///< To C.
    bool rounds = true;                 ///< To the result's type before that, or the pass does.
  };

  /// One thread calls it at a time, of all that share `workspace`.
  void run(const MatmulOperands& operands, WorkerPool& pool, Workspace& workspace,
           const Finish& finish) const;

 private:
  /// A rectangle of C of one matrix of the batch.
  struct Block {
    std::int64_t matrix = 0, row = 0, rows = 0, column = 0, columns = 0;
  };
  template <class T>
  struct Factors {
    Strided<T> a, b;  ///< Of the first matrix.
  };
  struct Job;  ///< What a worker needs.

  void choose_blocks(std::int64_t threads);
  Block block(std::int64_t index) const;
  std::int64_t panels() const;
  std::int64_t padded_columns() const { return panels() * kernel_.columns; }
  template <class T>
  void run_as(const MatmulOperands& operands, WorkerPool& pool, Workspace& workspace,
              const Finish& finish) const;
  template <class T>
  void pack_b(const Factors<T>& factors, std::int64_t matrix, std::int64_t first, std::int64_t last,
              float* to) const;
  template <class T>
  void run_block(const Factors<T>& factors, const Block& block, const float* b,
                 const Job& job) const;
  void finish_rows(const Block& block, std::int64_t row, std::int64_t rows, float* values,
                   const Job& job) const;

  MatmulShape shape_;
  const PanelKernel& kernel_;
  bool packs_whole_b_ = true;  ///< At the beginning, by all threads; else one matrix by a worker.
  std::int64_t row_blocks_ = 1, column_blocks_ = 1;  ///< Of a matrix.
  std::int64_t block_rows_ = 0, block_columns_ = 0;  ///< At most; columns: whole panels.
  std::int64_t jobs_ = 1;  ///< That the threads share: blocks, or ranges of matrices.
  Bytes own_, common_;     ///< Of the workspace.
};

}  // namespace howard::host
