// SPDX-License-Identifier: Apache-2.0
#include "engines/host/matmul_plan.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <dnnl.hpp>

namespace howard::host {
namespace {

/// Up to this size of B, half of Zen 4's cache of a core, blocks of rows are faster.
constexpr Bytes kSmallOperand(std::int64_t{512} * 1024);
/// No block is narrower or lower than this: two vectors of float32, oneDNN's smallest full kernel.
constexpr std::int64_t kSmallestSide = 32;
/// Blocks this wide or high still run at oneDNN's full rate.
constexpr std::int64_t kGoodColumns = 128;
constexpr std::int64_t kGoodRows = 256;
/// Several good blocks per thread even the load out when a core is taken away for a while.
constexpr std::int64_t kBlocksPerThread = 2;

std::int64_t bytes_of(DataType dtype) { return dtype == DataType::float32 ? 4 : 2; }

/// Makes oneDNN single-threaded on this thread for a while, whatever OMP_NUM_THREADS says. Its
/// OpenMP runtime keeps the number per thread, and the caller's is put back.
class SingleOpenMpThread {
 public:
  SingleOpenMpThread() { omp_set_num_threads(1); }
  ~SingleOpenMpThread() { omp_set_num_threads(before_); }
  SingleOpenMpThread(const SingleOpenMpThread&) = delete;
  SingleOpenMpThread& operator=(const SingleOpenMpThread&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

/// The side of the blocks that cut `length` for at least `wanted` threads if it is long enough.
std::int64_t block_side(std::int64_t length, std::int64_t wanted, std::int64_t good) {
  if (wanted == 1) return length;
  const std::int64_t side = length >= good * wanted
                                ? std::max(good, ceil_div(length, wanted * kBlocksPerThread))
                                : ceil_div(length, wanted);
  return ceil_div(side, kSmallestSide) * kSmallestSide;
}

/// How far a block reaches along each dimension of C.
struct BlockSize {
  std::int64_t matrices = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Blocks of columns pack their own part of B each; blocks of rows each pack all of it, but oneDNN
/// prefers wide blocks. One thread of Zen 4 does its half of a bfloat16 product of n x n x n in, as
/// columns and rows: n = 128 11.8 and 9.9 us, 512 629 and 587 us; at 4096 rows reach 0.63 of the
/// rate of columns. Both sides are cut only when one does not suffice for all threads, and matrices
/// only when there are fewer of them than threads.
BlockSize block_size(const MatmulShape& shape, std::int64_t threads) {
  BlockSize size{.rows = shape.m, .columns = shape.n};
  if (shape.flops() < kSmallProduct) {
    size.matrices = shape.batch;
    return size;
  }
  if (shape.batch >= threads) {
    size.matrices = threads == 1 ? shape.batch : ceil_div(shape.batch, threads * kBlocksPerThread);
    return size;
  }
  const std::int64_t wanted = ceil_div(threads, shape.batch);
  if (Bytes(shape.k * shape.n * bytes_of(shape.dtype)) <= kSmallOperand) {
    size.rows = block_side(shape.m, wanted, kGoodRows);
    size.columns =
        block_side(shape.n, ceil_div(wanted, ceil_div(shape.m, size.rows)), kGoodColumns);
  } else {
    size.columns = block_side(shape.n, wanted, kGoodColumns);
    size.rows = block_side(shape.m, ceil_div(wanted, ceil_div(shape.n, size.columns)), kGoodRows);
  }
  return size;
}

const dnnl::engine& cpu_engine() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

dnnl::memory::data_type type_of(DataType dtype) {
  return dtype == DataType::float32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
}

dnnl::matmul::primitive_desc describe(const MatmulShape& shape, const BlockSize& size) {
  const SingleOpenMpThread single;
  // A part [matrices, rows, columns] of matrices that are stored with other distances; of one
  // matrix, for which oneDNN has faster kernels, without the first dimension.
  const auto part = [&](DataType dtype, dnnl::memory::dims sizes, dnnl::memory::dims strides) {
    if (size.matrices == 1) {
      sizes.erase(sizes.begin());
      strides.erase(strides.begin());
    }
    return dnnl::memory::desc(sizes, type_of(dtype), strides);
  };
  const auto [m, k, n] = std::array{shape.m, shape.k, shape.n};
  const bool ta = shape.transpose_a;
  const bool tb = shape.transpose_b;
  const auto a = part(shape.dtype, {shape.one_a ? 1 : size.matrices, size.rows, k},
                      {m * k, ta ? 1 : k, ta ? m : 1});
  const auto b = part(shape.dtype, {shape.one_b ? 1 : size.matrices, k, size.columns},
                      {k * n, tb ? 1 : n, tb ? k : 1});
  const auto c = part(shape.result, {size.matrices, size.rows, size.columns}, {m * n, n, 1});
  dnnl::primitive_attr attributes;
  // The library's own scratchpad belongs to the thread that made the primitive; ours to a worker.
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (!shape.bias) return {dnnl::matmul::desc(a, b, c), attributes, cpu_engine()};
  const auto bias = part(shape.dtype, {1, 1, size.columns}, {n, n, 1});
  return {dnnl::matmul::desc(a, b, bias, c), attributes, cpu_engine()};
}

/// oneDNN takes operands that it only reads as void*.
void* operand(const std::byte* values, std::int64_t offset) {
  return const_cast<std::byte*>(values + offset);
}

}  // namespace

bool has_fast_bfloat16_products() {
  static const bool kHas = [] {
    // Sapphire Rapids and its successors, known by AVX512-FP16, are fast with AMX alone: without,
    // as in a virtual machine that hides it, a product of AVX512-BF16 takes two cycles, in which
    // two units could do as much twice over in float32 (measured: 87 to 157 GFLOP/s a core).
    __builtin_cpu_init();
    const bool wants_amx = __builtin_cpu_is("intel") && __builtin_cpu_supports("avx512fp16");
    if (wants_amx && !__builtin_cpu_supports("amx-bf16")) return false;
    try {
      describe({.m = 32, .k = 32, .n = 32}, {.rows = 32, .columns = 32});
      return true;
    } catch (const dnnl::error& error) {
      if (error.status == dnnl_unimplemented) return false;
      throw;
    }
  }();
  return kHas;
}

struct MatmulPlan::Primitive {
  BlockSize size;
  dnnl::matmul::primitive_desc description;
  dnnl::matmul primitive;
};

struct MatmulPlan::Execution {
  explicit Execution(const dnnl::matmul::primitive_desc& description)
      : stream(cpu_engine()),
        a(description.src_desc(), cpu_engine(), nullptr),
        b(description.weights_desc(), cpu_engine(), nullptr),
        bias(description.bias_desc(), cpu_engine(), nullptr),
        c(description.dst_desc(), cpu_engine(), nullptr),
        scratch(description.scratchpad_desc(), cpu_engine(), nullptr) {}

  /// Through the C interface: the C++ one copies a hash table of the operands at each call.
  void run(const dnnl::matmul& primitive, bool biased) const {
    const std::array<dnnl_exec_arg_t, 5> arguments{{{DNNL_ARG_SRC, a.get()},
                                                    {DNNL_ARG_WEIGHTS, b.get()},
                                                    {DNNL_ARG_DST, c.get()},
                                                    {DNNL_ARG_SCRATCHPAD, scratch.get()},
                                                    {DNNL_ARG_BIAS, bias.get()}}};
    const int count = biased ? 5 : 4;
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(primitive.get(), stream.get(), count, arguments.data()),
        "could not execute a product");
  }

  dnnl::stream stream;
  dnnl::memory a, b, bias, c, scratch;
};

MatmulPlan::MatmulPlan(const MatmulShape& shape, int threads)
    : columns_(shape.n), result_bytes_(bytes_of(shape.result)) {
  const BlockSize size = block_size(shape, threads);
  const std::int64_t element = bytes_of(shape.dtype);
  for (std::int64_t matrix = 0; matrix < shape.batch; matrix += size.matrices) {
    for (std::int64_t row = 0; row < shape.m; row += size.rows) {
      for (std::int64_t column = 0; column < shape.n; column += size.columns) {
        const std::int64_t a_matrix = shape.one_a ? 0 : matrix * shape.m * shape.k;
        const std::int64_t b_matrix = shape.one_b ? 0 : matrix * shape.k * shape.n;
        blocks_.push_back(
            {.primitive = primitive_for(shape, std::min(size.matrices, shape.batch - matrix),
                                        std::min(size.rows, shape.m - row),
                                        std::min(size.columns, shape.n - column)),
             .first = (matrix * shape.m + row) * shape.n + column,
             .a = (a_matrix + row * (shape.transpose_a ? 1 : shape.k)) * element,
             .b = (b_matrix + column * (shape.transpose_b ? shape.k : 1)) * element,
             .bias = column * element,
             .c = ((matrix * shape.m + row) * shape.n + column) * bytes_of(shape.result)});
      }
    }
  }
  executions_.resize(static_cast<std::size_t>(threads));
  for (std::vector<Execution>& own : executions_) {
    for (const Primitive& primitive : primitives_) own.emplace_back(primitive.description);
  }
}

MatmulPlan::~MatmulPlan() = default;

std::size_t MatmulPlan::primitive_for(const MatmulShape& shape, std::int64_t matrices,
                                      std::int64_t rows, std::int64_t columns) {
  const BlockSize size{matrices, rows, columns};
  for (std::size_t i = 0; i < primitives_.size(); ++i) {
    const BlockSize& known = primitives_[i].size;
    if (known.matrices == matrices && known.rows == rows && known.columns == columns) return i;
  }
  const SingleOpenMpThread single;
  const auto description = describe(shape, size);
  const auto scratch = static_cast<std::int64_t>(description.scratchpad_desc().get_size());
  scratch_size_ = std::max(scratch_size_, Bytes(scratch));
  primitives_.push_back({size, description, dnnl::matmul(description)});
  return primitives_.size() - 1;
}

void MatmulPlan::run(const MatmulOperands& operands, WorkerPool& pool, Workspace& workspace,
                     const ElementPass* after) {
  workspace.require(scratch_size_);
  pool.run(static_cast<int>(blocks_.size()), [&](int index, int worker) {
    const Block& block = blocks_[static_cast<std::size_t>(index)];
    run_block(block, operands, worker, workspace.of(worker));
    if (after != nullptr) run_after(block, *after, operands.c);
  });
}

void MatmulPlan::run_after(const Block& block, const ElementPass& after, const std::byte* c) const {
  const BlockSize& size = primitives_[block.primitive].size;
  if (size.columns == columns_) {
    after.run_range(block.first, block.first + size.matrices * size.rows * columns_, c + block.c);
    return;
  }
  // Only blocks of one matrix are cut.
  for (std::int64_t row = 0; row < size.rows; ++row) {
    const std::int64_t first = block.first + row * columns_;
    after.run_range(first, first + size.columns, c + first * result_bytes_);
  }
}

void MatmulPlan::run_block(const Block& block, const MatmulOperands& operands, int worker,
                           std::byte* scratch) {
  const SingleOpenMpThread single;
  Execution& own = executions_[static_cast<std::size_t>(worker)][block.primitive];
  own.a.set_data_handle(operand(operands.a, block.a));
  own.b.set_data_handle(operand(operands.b, block.b));
  const bool biased = operands.bias != nullptr;
  if (biased) own.bias.set_data_handle(operand(operands.bias, block.bias));
  own.c.set_data_handle(operands.c + block.c);
  own.scratch.set_data_handle(scratch);
  own.run(primitives_[block.primitive].primitive, biased);
}

}  // namespace howard::host
