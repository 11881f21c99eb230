// SPDX-License-Identifier: Apache-2.0
#include "engines/host/matmul_kernel.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <dnnl.hpp>
#include <new>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "engines/host/bfloat16.h"

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

/// A rectangle of C.
struct Block {
  std::int64_t row = 0;
  std::int64_t rows = 0;
  std::int64_t column = 0;
  std::int64_t columns = 0;
};

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

/// Blocks of columns pack their own part of B each; blocks of rows each pack all of it, but oneDNN
/// prefers wide blocks. One thread of Zen 4 does its half of a bfloat16 product of n x n x n in, as
/// columns and rows: n = 128 11.8 and 9.9 us, 512 629 and 587 us; at 4096 rows reach 0.63 of the
/// rate of columns. Both sides are cut only when one does not suffice for all threads.
std::vector<Block> blocks_of(const MatmulShape& shape, std::int64_t threads) {
  const std::int64_t element = shape.dtype == DataType::float32 ? 4 : 2;
  std::int64_t width = shape.n;
  std::int64_t height = shape.m;
  if (Bytes(shape.k * shape.n * element) <= kSmallOperand) {
    height = block_side(shape.m, threads, kGoodRows);
    width = block_side(shape.n, ceil_div(threads, ceil_div(shape.m, height)), kGoodColumns);
  } else {
    width = block_side(shape.n, threads, kGoodColumns);
    height = block_side(shape.m, ceil_div(threads, ceil_div(shape.n, width)), kGoodRows);
  }
  std::vector<Block> blocks;
  for (std::int64_t row = 0; row < shape.m; row += height) {
    for (std::int64_t column = 0; column < shape.n; column += width) {
      blocks.push_back({.row = row,
                        .rows = std::min(height, shape.m - row),
                        .column = column,
                        .columns = std::min(width, shape.n - column)});
    }
  }
  return blocks;
}

const dnnl::engine& cpu_engine() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

/// oneDNN's primitive for a block of rows x columns of `shape`, for one thread.
dnnl::matmul::primitive_desc block_primitive(const MatmulShape& shape, std::int64_t rows,
                                             std::int64_t columns) {
  const SingleOpenMpThread single;
  const auto type = shape.dtype == DataType::float32 ? dnnl::memory::data_type::f32
                                                     : dnnl::memory::data_type::bf16;
  const dnnl::memory::desc a({rows, shape.k}, type, dnnl::memory::dims{shape.k, 1});
  const dnnl::memory::desc b({shape.k, columns}, type, dnnl::memory::dims{shape.n, 1});
  const dnnl::memory::desc c({rows, columns}, type, dnnl::memory::dims{shape.n, 1});
  dnnl::primitive_attr attributes;
  // The library's own scratchpad belongs to the thread that made the primitive; ours to a worker.
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return {dnnl::matmul::desc(a, b, c), attributes, cpu_engine()};
}

bool has_bfloat16() {
  static const bool kHas = [] {
    try {
      block_primitive({.m = 32, .k = 32, .n = 32, .dtype = DataType::bfloat16}, 32, 32);
      return true;
    } catch (const dnnl::error& error) {
      if (error.status == dnnl_unimplemented) return false;
      throw;
    }
  }();
  return kHas;
}

/// A block with everything that oneDNN needs to compute it, made once.
struct BlockProduct {
  BlockProduct(const MatmulShape& shape, const Block& where,
               const dnnl::matmul::primitive_desc& description, const dnnl::matmul& shared)
      : block(where),
        a_offset(where.row * shape.k),
        b_offset(where.column),
        c_offset(where.row * shape.n + where.column),
        primitive(shared),
        stream(cpu_engine()),
        a(description.src_desc(), cpu_engine(), nullptr),
        b(description.weights_desc(), cpu_engine(), nullptr),
        c(description.dst_desc(), cpu_engine(), nullptr),
        scratch(description.scratchpad_desc(), cpu_engine(), nullptr),
        arguments{{DNNL_ARG_SRC, a},
                  {DNNL_ARG_WEIGHTS, b},
                  {DNNL_ARG_DST, c},
                  {DNNL_ARG_SCRATCHPAD, scratch}} {}

  Block block;
  std::int64_t a_offset;  ///< Offsets in elements.
  std::int64_t b_offset;
  std::int64_t c_offset;
  dnnl::matmul primitive;
  dnnl::stream stream;
  dnnl::memory a, b, c, scratch;
  std::unordered_map<int, dnnl::memory> arguments;
};

/// oneDNN takes operands that it only reads as void*.
void* operand(const std::byte* values, std::int64_t offset, std::int64_t element) {
  return const_cast<std::byte*>(values + offset * element);
}

}  // namespace

/// How one shape is computed.
class MatmulKernel::Plan {
 public:
  Plan(const MatmulShape& shape, int threads)
      : shape_(shape), element_(shape.dtype == DataType::float32 ? 4 : 2) {
    using Sides = std::pair<std::int64_t, std::int64_t>;
    std::map<Sides, std::pair<dnnl::matmul::primitive_desc, dnnl::matmul>> primitives;
    for (const Block& block : blocks_of(shape, threads)) {
      const Sides sides{block.rows, block.columns};
      if (!primitives.contains(sides)) {
        const SingleOpenMpThread single;
        const auto description = block_primitive(shape, block.rows, block.columns);
        primitives.emplace(sides, std::pair(description, dnnl::matmul(description)));
      }
      const auto& [description, primitive] = primitives.at(sides);
      products_.emplace_back(shape, block, description, primitive);
      scratch_size_ =
          std::max(scratch_size_,
                   Bytes(static_cast<std::int64_t>(description.scratchpad_desc().get_size())));
    }
  }

  int blocks() const { return static_cast<int>(products_.size()); }
  Bytes scratch_size() const { return scratch_size_; }

  void run_block(int block, const std::byte* a, const std::byte* b, std::byte* c,
                 std::byte* scratch) {
    const SingleOpenMpThread single;
    BlockProduct& product = products_[static_cast<std::size_t>(block)];
    product.a.set_data_handle(operand(a, product.a_offset, element_));
    product.b.set_data_handle(operand(b, product.b_offset, element_));
    product.c.set_data_handle(c + product.c_offset * element_);
    product.scratch.set_data_handle(scratch);
    product.primitive.execute(product.stream, product.arguments);
    product.stream.wait();
  }

 private:
  MatmulShape shape_;
  std::int64_t element_;  ///< Bytes.
  std::vector<BlockProduct> products_;
  Bytes scratch_size_;
};

MatmulKernel::MatmulKernel(WorkerPool& pool)
    : pool_(pool), scratch_(static_cast<std::size_t>(pool.threads())) {}

MatmulKernel::~MatmulKernel() = default;

void MatmulKernel::run(const MatmulShape& shape, const std::byte* a, const std::byte* b,
                       std::byte* c) {
  std::string refusal;
  try {
    if (shape.dtype == DataType::float32 || has_bfloat16()) {
      multiply(shape, a, b, c);
    } else {
      multiply_widened(shape, a, b, c);
    }
    return;
  } catch (const dnnl::error& error) {
    refusal = fmt::format("oneDNN refuses: {}", error.message);
  } catch (const std::bad_alloc&) {
    refusal = "the system has no memory left for oneDNN's scratch";
  }
  throw Error({.attempted = fmt::format("multiply {}x{} by {}x{} {} on the host", shape.m, shape.k,
                                        shape.k, shape.n, name_of(shape.dtype)),
               .value = refusal,
               .accepted = "",
               .hint = "smaller shapes"});
}

void MatmulKernel::multiply(const MatmulShape& shape, const std::byte* a, const std::byte* b,
                            std::byte* c) {
  Plan& plan = planned(shape);
  pool_.run(plan.blocks(), [&](int block, int worker) {
    plan.run_block(block, a, b, c, scratch_[static_cast<std::size_t>(worker)].get());
  });
}

void MatmulKernel::multiply_widened(const MatmulShape& shape, const std::byte* a,
                                    const std::byte* b, std::byte* c) {
  MatmulShape wide = shape;
  wide.dtype = DataType::float32;
  const auto share = [&](std::int64_t count, const auto& convert) {
    const std::int64_t step = ceil_div(count, pool_.threads());
    pool_.run(pool_.threads(), [&](int block, int) {
      for (std::int64_t i = block * step; i < std::min(count, (block + 1) * step); ++i) convert(i);
    });
  };
  const auto widen = [&](const std::byte* from, std::int64_t count, std::vector<float>& to) {
    to.resize(std::max(to.size(), static_cast<std::size_t>(count)));
    const auto* narrow = reinterpret_cast<const std::uint16_t*>(from);
    share(count, [&](std::int64_t i) { to.data()[i] = from_bfloat16(narrow[i]); });
  };
  const std::int64_t elements = shape.m * shape.n;
  widen(a, shape.m * shape.k, wide_a_);
  widen(b, shape.k * shape.n, wide_b_);
  wide_c_.resize(std::max(wide_c_.size(), static_cast<std::size_t>(elements)));
  multiply(wide, reinterpret_cast<const std::byte*>(wide_a_.data()),
           reinterpret_cast<const std::byte*>(wide_b_.data()),
           reinterpret_cast<std::byte*>(wide_c_.data()));
  auto* result = reinterpret_cast<std::uint16_t*>(c);
  share(elements, [&](std::int64_t i) { result[i] = to_bfloat16(wide_c_.data()[i]); });
}

MatmulKernel::Plan& MatmulKernel::planned(const MatmulShape& shape) {
  const auto known = plans_.find(shape);
  if (known != plans_.end()) return *known->second;
  auto plan = std::make_unique<Plan>(shape, pool_.threads());
  if (plan->scratch_size() > scratch_size_) {
    scratch_size_ = Bytes(0);
    for (AlignedBytes& scratch : scratch_) {
      scratch = allocate_aligned(plan->scratch_size());
      if (scratch == nullptr) throw std::bad_alloc();
    }
    scratch_size_ = plan->scratch_size();
  }
  return *plans_.emplace(shape, std::move(plan)).first->second;
}

}  // namespace howard::host
