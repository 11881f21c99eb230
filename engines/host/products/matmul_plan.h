// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engines/host/kernels/element_pass.h"
#include "engines/host/kernels/workspace.h"
#include "engines/host/products/matmul_blocks.h"
#include "engines/host/products/matmul_shape.h"
#include "engines/host/worker_pool.h"

namespace howard::host {

/// Whether oneDNN multiplies bfloat16 on this CPU, and faster than the CPU multiplies float32.
bool has_fast_bfloat16_products();

/// What factors of these types are multiplied in: bfloat16 if both are and `fast`, or float32.
DataType multiplied_in(DataType a, DataType b, bool fast = has_fast_bfloat16_products());

/// What becomes of a block of C as soon as it is there, still in a cache.
struct ProductFinish {
  std::shared_ptr<const ElementPass> pass;  ///< Reads it, and stores to no factor.
  /// Of a product in float32 whose result is bfloat16 and not stored: whether the pass, which is
  /// given float32, wants it rounded.
  bool rounds = true;
};

/// How products of one shape are computed: cut into blocks of rows or of columns, or of whole
/// matrices of the batch, each a single-threaded oneDNN primitive on a thread of the pool. oneDNN's
/// own threads (libgomp) would wait for the next product spinning, up to milliseconds, on the cores
/// that the pool needs for everything else.
///
/// bfloat16 is widened to float32, the same arithmetic, where the other factor is float32 or the
/// CPU multiplies that as fast. Such a product is rounded block by block as it comes.
///
/// The blocks depend on the shape and the number of threads alone, and no sum is split over blocks:
/// equal operands give equal bits.
class MatmulPlan {
 public:
  /// For `threads` workers, of a CPU with or without fast products of bfloat16. Throws what oneDNN
  /// throws: dnnl::error.
  MatmulPlan(const MatmulShape& shape, int threads, bool fast = has_fast_bfloat16_products());
  ~MatmulPlan();

  /// One thread calls it at a time, of all plans that share `workspace`.
  void run(const MatmulOperands& operands, WorkerPool& pool, Workspace& workspace,
           const ProductFinish& finish = {});

 private:
  /// What oneDNN computes at a time: some columns of a block and a range of k, with the first
  /// elements; of a packed B, its packing.
  struct Part {
    std::size_t primitive = 0;  ///< Index into primitives_.
    std::int64_t a = 0, b = 0, bias = 0;
    std::int64_t c = 0;  ///< From the block's first column on.
  };
  /// A rectangle of C, of one matrix or of several of the batch.
  struct Block {
    std::int64_t c = 0;  ///< Its first element.
    std::int64_t rows = 0, columns = 0;
    std::vector<Part> parts;
  };
  /// How oneDNN finds a factor, or the bias: where it is, or widened to float32 in a workspace, all
  /// of it once before the blocks or the matrices of a block where it is computed.
  struct Factor {
    enum class Held : std::uint8_t { as_it_is, once, by_block, packed };
    DataType dtype{};
    std::int64_t matrix = 0, matrices = 0;  ///< Elements of one, and how many.
    Held held = Held::as_it_is;
    Bytes place;  ///< In the common workspace, or in a worker's.
  };
  struct Primitive;  ///< oneDNN's, for parts of one size.
  struct Execution;  ///< What one worker needs to run one.
  struct Packing;    ///< How a part of B, some columns, is packed.
  struct Job;        ///< What a worker needs besides.

  void cut(const BlockSize& size);
  std::size_t primitive_for(const PartSize& size);
  Factor factor(DataType dtype, std::int64_t matrix, std::int64_t matrices, bool by_block) const;
  void add_packing(std::int64_t column);
  void make_room(const BlockSize& largest);
  void pack(const Packing& packing, const Job& job, int worker);
  void run_block(const Block& block, const Job& job, int worker);
  std::byte* found(const Factor& factor, const std::byte* values, std::int64_t first,
                   std::int64_t matrices, const Job& job) const;
  void finish_block(const Block& block, const Job& job, std::byte* values) const;

  MatmulShape shape_, computed_;  ///< As it is asked for, and as oneDNN multiplies.
  bool rounds_;                   ///< What oneDNN gives.
  bool own_c_;  ///< A block of C is computed in its worker's workspace, at c_place_ ...
  std::int64_t c_step_ = 0;  ///< ... or in C; elements from a row to the next.
  bool packs_b_ = false;
  Factor a_, b_, bias_;
  Bytes c_place_;
  std::vector<Block> blocks_;
  std::vector<Packing> packings_;  ///< Of all of B, in the order of its columns.
  std::vector<Primitive> primitives_;
  std::vector<std::vector<Execution>> executions_;  ///< Of each worker, in primitives_' order.
  Bytes own_size_, common_size_;                    ///< Of the workspace; own: first oneDNN's.
};

}  // namespace howard::host
