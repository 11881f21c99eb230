// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engines/host/kernels/elementwise/element_pass.h"
#include "engines/host/kernels/matmul/gemm_traits.h"
#include "engines/host/kernels/matmul/matmul_blocks.h"
#include "engines/host/kernels/matmul/matmul_shape.h"
#include "engines/host/kernels/workspace.h"
#include "engines/host/worker_pool.h"

namespace howard::host {

/// Returns whether oneDNN multiplies bfloat16 on this CPU, and does so faster than the CPU
/// multiplies float32.
bool has_fast_bfloat16_products();

/// Returns the type in which factors of these types are multiplied: bfloat16 if both are and
/// `fast`, otherwise float32.
DataType multiplied_in(DataType a, DataType b, bool fast = has_fast_bfloat16_products());

/// Says what is done with each block of C once it is computed and still in a cache.
struct ProductFinish {
  /// This pass reads the block; it must not store to a factor.
  std::shared_ptr<const ElementPass> pass;
  /// If true, the float32 values that the pass is given must first be rounded to bfloat16. This is
  /// for a float32 product whose bfloat16 result is not stored.
  bool rounds = true;
};

/// Says how products of one shape are computed. They are cut into blocks of rows, of columns, or of
/// whole matrices of the batch; each block is a single-threaded oneDNN primitive on a thread of the
/// pool. oneDNN's own threads (libgomp) would spin while they wait for the next product, for up to
/// milliseconds, on the cores that the pool needs for everything else.
///
/// bfloat16 is widened to float32, which gives the same arithmetic, when the other factor is
/// float32 or the CPU multiplies float32 as fast. The result of such a product is rounded block by
/// block.
///
/// The blocks depend only on the shape and the number of threads, and no sum is split over blocks,
/// so equal operands give equal bits.
class ProductPlan {
 public:
  /// Plans for `threads` workers of a CPU whose gemm wants gaps or not, with or without fast
  /// products of bfloat16. Throws dnnl::error when oneDNN does.
  ProductPlan(const MatmulShape& shape, int threads, bool gaps = gemm_wants_gaps(),
              bool fast = has_fast_bfloat16_products());
  ~ProductPlan();

  /// Only one thread at a time may call this, for all plans that share `workspace`.
  void run(const MatmulOperands& operands, WorkerPool& pool, Workspace& workspace,
           const ProductFinish& finish = {});

 private:
  /// Some columns of a block over a range of k, which oneDNN computes at a time. The numbers are
  /// the offsets of the first elements; for a packed B, `b` is the index of its packing.
  struct Part {
    std::size_t primitive = 0;  ///< Index into primitives_.
    std::int64_t a = 0, b = 0, bias = 0;
    std::int64_t packed = 0;  ///< The offset from the beginning of that packing.
    std::int64_t c = 0;       ///< The offset from the block's first column.
  };
  /// A rectangle of C, in one matrix or in several of the batch.
  struct Block {
    std::int64_t c = 0;  ///< The offset of its first element.
    std::int64_t rows = 0, columns = 0;
    std::vector<Part> parts;
  };
  /// Says where oneDNN finds a factor or the bias: in place, or widened to float32 in a workspace.
  /// It is widened all at once before the blocks, or in each block for the matrices of that block.
  /// A transposed A is copied with gaps part by part, and widened if it is narrow.
  struct Factor {
    enum class Held : std::uint8_t { as_it_is, once, by_block, by_part, packed };
    DataType dtype{};
    /// The elements of one matrix, and the number of matrices.
    std::int64_t matrix = 0, matrices = 0;
    Held held = Held::as_it_is;
    Bytes place;  ///< The offset in the common workspace or in a worker's.
  };
  struct Primitive;  ///< A oneDNN primitive, for parts of one size.
  struct Execution;  ///< What one worker needs to run one primitive.
  struct Packing;    ///< How a part of B, some columns, is packed.
  struct Job;        ///< What else a worker needs.

  void cut(const BlockSize& size);
  std::size_t primitive_for(const PartSize& size);
  void copy_with_gaps(const BlockSize& size, bool gaps);
  Factor factor(DataType dtype, std::int64_t matrix, std::int64_t matrices, bool by_block) const;
  void add_packing(std::int64_t column, std::int64_t columns);
  void make_room(const BlockSize& largest);
  void pack(const Packing& packing, const Job& job, int worker);
  void run_block(const Block& block, const Job& job, int worker);
  std::byte* found(const Factor& factor, const std::byte* values, std::int64_t first,
                   std::int64_t matrices, const Job& job) const;
  std::byte* copied_a(const Part& part, const PartSize& size, const Job& job) const;
  void finish_block(const Block& block, const Job& job, std::byte* values) const;

  /// The shape as asked for, and the shape as oneDNN multiplies it.
  MatmulShape shape_, computed_;
  bool rounds_;  ///< True if the result of oneDNN must be rounded.
  /// If true, a block of C is computed in its worker's workspace, at c_place_, otherwise directly
  /// in C.
  bool own_c_;
  /// The distances of the rows where oneDNN finds them, in an operand or in a workspace.
  RowSteps steps_;
  bool packs_b_ = false;
  bool gaps_in_b_ = false;  ///< True if B is packed as it is but for gaps.
  Factor a_, b_, bias_;
  Bytes c_place_;
  std::vector<Block> blocks_;
  std::vector<Packing> packings_;  ///< The packings of all of B, in the order of its columns.
  std::vector<Primitive> primitives_;
  /// Each worker has one for each of primitives_, in their order.
  std::vector<std::vector<Execution>> executions_;
  /// Sizes of the workspaces; a worker's own one begins with oneDNN's scratchpad.
  Bytes own_size_, common_size_;
};

}  // namespace howard::host
