// SPDX-License-Identifier: Apache-2.0
#include "engines/host/matmul_plan.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <dnnl.hpp>

#include "engines/host/kernel.h"
#include "engines/host/vector_loops.h"

namespace howard::host {
namespace {

/// Up to this size of B blocks of rows are faster: of bfloat16 half of Zen 4's cache of a core; of
/// float32, of which oneDNN packs parts, far more: on Sapphire Rapids rows reach 1.07 of the rate
/// of columns at n = 2048 and 0.87 at 4096.
constexpr Bytes small_operand(DataType dtype) {
  return Bytes(std::int64_t{512} * 1024 * (dtype == DataType::float32 ? 32 : 1));
}
/// No block is narrower or lower than this: two vectors of float32, oneDNN's smallest full kernel.
constexpr std::int64_t kSmallestSide = 32;
/// Blocks this wide or high still run at oneDNN's full rate.
constexpr std::int64_t kGoodColumns = 128;
constexpr std::int64_t kGoodRows = 256;
/// Several good blocks per thread even the load out when a core is taken away for a while.
constexpr std::int64_t kBlocksPerThread = 2;

constexpr std::int64_t kFloat = 4;  // Bytes.
constexpr std::int64_t kCacheLine = 64;

std::int64_t bytes_of(DataType dtype) { return dtype == DataType::float32 ? kFloat : 2; }

/// What a block of whole matrices widens stays within this, half of Sapphire Rapids' second cache.
constexpr Bytes kWidened(std::int64_t{1} << 20);
/// Elements to widen that are worth another thread.
constexpr std::int64_t kWideningGrain = 16384;
/// Elements of a widened product that are rounded and passed on at a time: they stay in the first
/// cache.
constexpr std::int64_t kFinished = 4096;

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

/// The side of the blocks that cut `length` for `wanted` threads, as many for each of them: a third
/// block for two threads would leave one of them idle for a quarter of the time.
std::int64_t block_side(std::int64_t length, std::int64_t wanted, std::int64_t good) {
  if (wanted == 1) return length;
  const std::int64_t each = std::clamp(length / (wanted * good), std::int64_t{1}, kBlocksPerThread);
  return ceil_div(ceil_div(length, wanted * each), kSmallestSide) * kSmallestSide;
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
  if (Bytes(shape.k * shape.n * bytes_of(shape.b)) <= small_operand(shape.b)) {
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

/// A block of C; `own_c`: by itself, not as a part of it.
dnnl::matmul::primitive_desc describe(const MatmulShape& shape, const BlockSize& size, bool own_c) {
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
  const auto a = part(shape.a, {shape.one_a ? 1 : size.matrices, size.rows, k},
                      {m * k, ta ? 1 : k, ta ? m : 1});
  const auto b = part(shape.b, {shape.one_b ? 1 : size.matrices, k, size.columns},
                      {k * n, tb ? 1 : n, tb ? k : 1});
  const std::int64_t step = own_c ? size.columns : n;
  const auto c = part(shape.result, {size.matrices, size.rows, size.columns},
                      {(own_c ? size.rows : m) * step, step, 1});
  dnnl::primitive_attr attributes;
  // The library's own scratchpad belongs to the thread that made the primitive; ours to a worker.
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (!shape.bias) return {dnnl::matmul::desc(a, b, c), attributes, cpu_engine()};
  const auto bias = part(*shape.bias, {1, 1, size.columns}, {n, n, 1});
  return {dnnl::matmul::desc(a, b, bias, c), attributes, cpu_engine()};
}

Bytes float32_bytes(std::int64_t elements) { return Bytes(elements * kFloat); }

void widen(const std::byte* from, std::int64_t first, std::int64_t count, std::byte* to) {
  const Half* narrow = reinterpret_cast<const Half*>(from) + first;
  auto* wide = reinterpret_cast<float*>(to);
  vectorised([=]() HOWARD_INLINE {
    for_each(count, [=](std::int64_t i) HOWARD_INLINE { wide[i] = load(narrow, i); });
  });
}

/// Each value, and into `stored` if it is not null.
void round_to_bfloat16(float* values, std::int64_t count, Half* stored) {
  vectorised([=]() HOWARD_INLINE {
    for_each(count,
             [=](std::int64_t i) HOWARD_INLINE { values[i] = rounded_to_bfloat16(values[i]); });
    if (stored == nullptr) return;
    for_each(count, [=](std::int64_t i) HOWARD_INLINE { stored[i] = exact_bfloat16(values[i]); });
  });
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
      describe({.m = 32, .k = 32, .n = 32}, {.rows = 32, .columns = 32}, false);
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

struct MatmulPlan::Job {
  const MatmulOperands& operands;
  const ProductFinish& finish;
  std::byte* common = nullptr;  ///< Workspaces.
  std::byte* own = nullptr;
};

DataType multiplied_in(DataType a, DataType b, bool fast) {
  const bool both = a == DataType::bfloat16 && b == DataType::bfloat16;
  return both && fast ? DataType::bfloat16 : DataType::float32;
}

MatmulPlan::MatmulPlan(const MatmulShape& shape, int threads, bool fast)
    : shape_(shape), computed_(shape) {
  const auto& [batch, m, k, n, one_a, one_b, ta, tb, type_a, type_b, bias, result, wide] = shape;
  computed_.a = computed_.b = multiplied_in(type_a, type_b, fast);
  const bool in_float32 = computed_.a == DataType::float32;
  if (in_float32) computed_.result = DataType::float32;
  if (bias) computed_.bias = computed_.a;
  rounds_ = in_float32 && result == DataType::bfloat16;
  own_c_ = rounds_ && !wide;
  BlockSize size = block_size(computed_, threads);
  const bool whole = size.rows == m && size.columns == n;
  a_ = factor(type_a, m * k, one_a ? 1 : batch, whole && !one_a);
  b_ = factor(type_b, k * n, one_b ? 1 : batch, whole && !one_b);
  if (bias) bias_ = factor(*bias, n, 1, false);
  if (whole && in_float32) {
    const std::int64_t fit = kWidened.value() / float32_bytes(m * k + k * n + m * n).value();
    size.matrices = std::clamp(fit, std::int64_t{1}, size.matrices);
  }
  for (std::int64_t matrix = 0; matrix < batch; matrix += size.matrices) {
    for (std::int64_t row = 0; row < m; row += size.rows) {
      for (std::int64_t column = 0; column < n; column += size.columns) {
        blocks_.push_back({.primitive = primitive_for(std::min(size.matrices, batch - matrix),
                                                      std::min(size.rows, m - row),
                                                      std::min(size.columns, n - column)),
                           .a = (one_a ? 0 : matrix * m * k) + row * (ta ? 1 : k),
                           .b = (one_b ? 0 : matrix * k * n) + column * (tb ? k : 1),
                           .bias = column,
                           .c = (matrix * m + row) * n + column});
      }
    }
  }
  make_room();
  executions_.resize(static_cast<std::size_t>(threads));
  for (std::vector<Execution>& own : executions_) {
    for (const Primitive& primitive : primitives_) own.emplace_back(primitive.description);
  }
}

MatmulPlan::~MatmulPlan() = default;

std::size_t MatmulPlan::primitive_for(std::int64_t matrices, std::int64_t rows,
                                      std::int64_t columns) {
  const BlockSize size{matrices, rows, columns};
  for (std::size_t i = 0; i < primitives_.size(); ++i) {
    const BlockSize& known = primitives_[i].size;
    if (known.matrices == matrices && known.rows == rows && known.columns == columns) return i;
  }
  const SingleOpenMpThread single;
  const auto description = describe(computed_, size, own_c_);
  const auto scratch = static_cast<std::int64_t>(description.scratchpad_desc().get_size());
  own_size_ = std::max(own_size_, Bytes(scratch));
  primitives_.push_back({size, description, dnnl::matmul(description)});
  return primitives_.size() - 1;
}

MatmulPlan::Factor MatmulPlan::factor(DataType dtype, std::int64_t matrix, std::int64_t matrices,
                                      bool by_block) const {
  Factor factor{.dtype = dtype, .matrix = matrix, .matrices = matrices};
  if (dtype != computed_.a) {
    factor.widened = by_block ? Factor::Widened::by_block : Factor::Widened::once;
  }
  return factor;
}

/// Gives what is widened, and blocks of C, their places in the workspaces.
void MatmulPlan::make_room() {
  const BlockSize& largest = primitives_[0].size;
  const auto place = [](Bytes& size, std::int64_t elements) {
    const Bytes first(ceil_div(size.value(), kCacheLine) * kCacheLine);
    size = first + float32_bytes(elements);
    return first;
  };
  for (Factor* factor : {&a_, &b_, &bias_}) {
    if (factor->widened == Factor::Widened::once) {
      factor->place = place(common_size_, factor->matrix * factor->matrices);
    } else if (factor->widened == Factor::Widened::by_block) {
      factor->place = place(own_size_, factor->matrix * largest.matrices);
    }
  }
  if (own_c_) c_place_ = place(own_size_, largest.matrices * largest.rows * largest.columns);
}

void MatmulPlan::run(const MatmulOperands& operands, WorkerPool& pool, Workspace& workspace,
                     const ProductFinish& finish) {
  workspace.require(own_size_, common_size_);
  const auto widen_once = [&](const Factor& factor, const std::byte* from) {
    if (factor.widened != Factor::Widened::once) return;
    share(pool, factor.matrix * factor.matrices, kWideningGrain,
          [from, to = workspace.common() + factor.place.value()](std::int64_t begin,
                                                                 std::int64_t end, int) {
            widen(from, begin, end - begin, to + begin * kFloat);
          });
  };
  widen_once(a_, operands.a);
  widen_once(b_, operands.b);
  widen_once(bias_, operands.bias);
  pool.run(static_cast<int>(blocks_.size()), [&](int index, int worker) {
    run_block(blocks_[static_cast<std::size_t>(index)],
              {operands, finish, workspace.common(), workspace.of(worker)}, worker);
  });
}

void MatmulPlan::run_block(const Block& block, const Job& job, int worker) {
  const SingleOpenMpThread single;
  const Execution& own = executions_[static_cast<std::size_t>(worker)][block.primitive];
  own.a.set_data_handle(found(a_, job.operands.a, block.a, block, job));
  own.b.set_data_handle(found(b_, job.operands.b, block.b, block, job));
  if (shape_.bias) {
    own.bias.set_data_handle(found(bias_, job.operands.bias, block.bias, block, job));
  }
  std::byte* const c =
      own_c_ ? job.own + c_place_.value() : job.operands.c + block.c * bytes_of(computed_.result);
  own.c.set_data_handle(c);
  own.scratch.set_data_handle(job.own);
  own.run(primitives_[block.primitive].primitive, shape_.bias.has_value());
  finish_block(block, job, c);
}

/// Element `first` of a factor with `values`, where oneDNN is to read it.
std::byte* MatmulPlan::found(const Factor& factor, const std::byte* values, std::int64_t first,
                             const Block& block, const Job& job) const {
  switch (factor.widened) {
    case Factor::Widened::once:
      return job.common + factor.place.value() + first * kFloat;
    case Factor::Widened::by_block: {
      std::byte* const to = job.own + factor.place.value();
      widen(values, first, factor.matrix * primitives_[block.primitive].size.matrices, to);
      return to;
    }
    case Factor::Widened::no:
      break;
  }
  // oneDNN takes operands that it only reads as void*.
  return const_cast<std::byte*>(values + first * bytes_of(factor.dtype));
}

/// Rounds and stores a block that lies in `values`, and runs the pass on it.
void MatmulPlan::finish_block(const Block& block, const Job& job, std::byte* values) const {
  const auto& [pass, stores, rounds] = job.finish;
  if (!rounds_ && pass == nullptr) return;
  const BlockSize& size = primitives_[block.primitive].size;
  const bool whole_rows = size.columns == shape_.n;  // Only blocks of one matrix are cut.
  const std::int64_t step = own_c_ ? size.columns : shape_.n;
  const std::int64_t rows = size.matrices * size.rows;
  const std::int64_t at_once = whole_rows ? std::max(std::int64_t{1}, kFinished / size.columns) : 1;
  for (std::int64_t row = 0; row < rows; row += at_once) {
    const std::int64_t first = block.c + row * shape_.n;
    const std::int64_t count = std::min(at_once, rows - row) * size.columns;
    std::byte* const part = values + row * step * bytes_of(computed_.result);
    if (rounds_ && (stores || rounds)) {
      auto* halves = reinterpret_cast<Half*>(job.operands.c) + first;
      round_to_bfloat16(reinterpret_cast<float*>(part), count, stores && own_c_ ? halves : nullptr);
    }
    if (pass != nullptr) pass->run_range(first, first + count, part);
  }
}

}  // namespace howard::host
