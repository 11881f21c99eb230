// SPDX-License-Identifier: Apache-2.0
#include "engines/host/kernels/matmul/product_plan.h"

#include <cpuid.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <dnnl.hpp>
#include <optional>

#include "engines/host/held_signals.h"
#include "engines/host/kernels/kernel.h"
#include "engines/host/kernels/matmul/matmul_blocks.h"
#include "engines/host/kernels/matmul/onednn_part.h"
#include "engines/host/kernels/vector_loops.h"

namespace howard::host {
namespace {

constexpr std::int64_t kFloat = 4;  // in bytes
constexpr std::int64_t kLine = 64;  // in bytes

/// This many elements to widen are worth another thread.
constexpr std::int64_t kWideningGrain = 16384;
/// This many elements of a widened product are rounded and passed on at a time: they stay in the
/// first-level cache.
constexpr std::int64_t kFinished = 4096;

/// Up to this k, oneDNN's gemm leaves the stack register alone on every instruction set.
/// Measurements show that it does at 64 and no longer at 96.
constexpr std::int64_t kKeepsStack = 64;

/// Describes `columns` of B, over a range of k, where they are packed with gaps.
dnnl::memory::desc b_with_gaps(std::int64_t k, std::int64_t columns) {
  return {{k, columns}, dnnl::memory::data_type::f32, {gapped(columns), 1}};
}

bool wants_packed_b(const MatmulShape& shape, const PartSize& size, const RowSteps& steps) {
  const auto wanted = describe(shape, size, steps, any_b(shape, size.columns)).weights_desc();
  return wanted != plain_b(shape, shape.b, size.columns);
}

Bytes float32_bytes(std::int64_t elements) { return Bytes(elements * kFloat); }

void widen(const std::byte* from, std::int64_t first, std::int64_t count, std::byte* to) {
  const Half* narrow = reinterpret_cast<const Half*>(from) + first;
  auto* wide = reinterpret_cast<float*>(to);
  vectorised([=]() HOWARD_INLINE {
    for_each(count, [=](std::int64_t i) HOWARD_INLINE { wide[i] = load(narrow, i); });
  });
}

/// Rounds each value, and also stores it in `stored` if that is not null.
void round_to_bfloat16(float* values, std::int64_t count, Half* stored) {
  vectorised([=]() HOWARD_INLINE {
    for_each(count,
             [=](std::int64_t i) HOWARD_INLINE { values[i] = rounded_to_bfloat16(values[i]); });
    if (stored == nullptr) return;
    for_each(count, [=](std::int64_t i) HOWARD_INLINE { stored[i] = exact_bfloat16(values[i]); });
  });
}

/// Reads the CPU's own word, because GCC 11 does not know the name of this extension.
bool has_avx512_fp16() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1u << 23)) != 0;
}

}  // namespace

bool has_fast_bfloat16_products() {
  static const bool kHas = [] {
    // Sapphire Rapids and its successors, recognised by AVX512-FP16, are fast only with AMX.
    // Without AMX, as in a virtual machine that hides it, a product of AVX512-BF16 takes two
    // cycles; in that time two units could do twice as much in float32 (measured: 87 and 157
    // GFLOP/s per core).
    __builtin_cpu_init();
    const bool wants_amx = __builtin_cpu_is("intel") && has_avx512_fp16();
    if (wants_amx && !__builtin_cpu_supports("amx-bf16")) return false;
    try {
      describe({.m = 32, .k = 32, .n = 32}, {.rows = 32, .columns = 32, .k = 32},
               {.a = 32, .b = 32, .c = 32}, {});
      return true;
    } catch (const dnnl::error& error) {
      if (error.status == dnnl_unimplemented) return false;
      throw;
    }
  }();
  return kHas;
}

struct ProductPlan::Primitive {
  PartSize size;
  dnnl::matmul::primitive_desc description;
  dnnl::matmul primitive;
};

struct ProductPlan::Execution {
  explicit Execution(const dnnl::matmul::primitive_desc& description)
      : stream(cpu_engine()),
        a(description.src_desc(), cpu_engine(), nullptr),
        b(description.weights_desc(), cpu_engine(), nullptr),
        bias(description.bias_desc(), cpu_engine(), nullptr),
        c(description.dst_desc(), cpu_engine(), nullptr),
        scratch(description.scratchpad_desc(), cpu_engine(), nullptr) {}

  /// Uses the C interface, because the C++ one copies a hash table of the operands at each call.
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

struct ProductPlan::Packing {
  std::int64_t first = 0;  ///< The offset of the first element in B.
  dnnl::memory::desc from, to, scratch;
  dnnl::reorder primitive;
  Bytes place;  ///< The offset in the common workspace.
};

struct ProductPlan::Job {
  const MatmulOperands& operands;
  const ProductFinish& finish;
  std::byte* common = nullptr;  ///< The common workspace and this worker's own one.
  std::byte* own = nullptr;
};

DataType multiplied_in(DataType a, DataType b, bool fast) {
  const bool both = a == DataType::bfloat16 && b == DataType::bfloat16;
  return both && fast ? DataType::bfloat16 : DataType::float32;
}

ProductPlan::ProductPlan(const MatmulShape& shape, int threads, bool gaps, bool fast)
    : shape_(shape), computed_(shape) {
  computed_.a = computed_.b = multiplied_in(shape.a, shape.b, fast);
  const bool in_float32 = computed_.a == DataType::float32;
  if (in_float32) computed_.result = DataType::float32;
  if (shape.bias) computed_.bias = computed_.a;
  rounds_ = in_float32 && shape.result == DataType::bfloat16;
  own_c_ = (rounds_ && !shape.wide_result) || !shape.stores_result;
  const auto [m, k, n] = std::array{shape.m, shape.k, shape.n};
  BlockSize size = block_size(computed_, threads, gaps);
  const bool whole = size.rows == m && size.columns == n && size.part_k == k;
  if (whole && in_float32) {
    // What a block widens stays within half of the second-level cache.
    const std::int64_t fit =
        second_level_cache().value() / 2 / float32_bytes(m * k + k * n + m * n).value();
    size.matrices = std::clamp(fit, std::int64_t{1}, size.matrices);
  }
  steps_ = plain_steps(computed_);
  if (own_c_ && size.columns < n) steps_.c = size.columns + kGap;
  a_ = factor(shape.a, m * k, shape.one_a ? 1 : shape.batch, whole && !shape.one_a);
  b_ = factor(shape.b, k * n, shape.one_b ? 1 : shape.batch, whole && !shape.one_b);
  if (shape.bias) bias_ = factor(*shape.bias, n, 1, false);
  copy_with_gaps(size, gaps);
  cut(size);
  for (std::int64_t column = 0; packs_b_ && column < n; column += size.part_columns) {
    add_packing(column, std::min(size.part_columns, n - column));
  }
  make_room(size);
  executions_.resize(static_cast<std::size_t>(threads));
  for (std::vector<Execution>& own : executions_) {
    for (const Primitive& primitive : primitives_) own.emplace_back(primitive.description);
  }
}

ProductPlan::~ProductPlan() = default;

/// Decides which factors are packed or copied with gaps.
void ProductPlan::copy_with_gaps(const BlockSize& size, bool gaps) {
  const PartSize largest{
      .matrices = size.matrices, .rows = size.rows, .columns = size.part_columns, .k = size.part_k};
  const bool packs = packing_pays(computed_, gaps);
  const bool copies = copying_a_pays(computed_, gaps);
  if (!packs && !copies) return;
  const bool gemm = is_by_gemm(computed_, largest, steps_);
  gaps_in_b_ = packs && gemm;
  // oneDNN's own layouts are for the whole sum.
  packs_b_ = gaps_in_b_ ||
             (packs && size.part_k == computed_.k && wants_packed_b(computed_, largest, steps_));
  if (packs_b_) b_.held = Factor::Held::packed;
  if (copies && gemm) {
    a_.held = Factor::Held::by_part;
    steps_.a = gapped(size.rows);
  }
}

void ProductPlan::cut(const BlockSize& size) {
  for (std::int64_t matrix = 0; matrix < shape_.batch; matrix += size.matrices) {
    const std::int64_t matrices = std::min(size.matrices, shape_.batch - matrix);
    for (std::int64_t row = 0; row < shape_.m; row += size.rows) {
      const std::int64_t rows = std::min(size.rows, shape_.m - row);
      for (std::int64_t column = 0; column < shape_.n; column += size.columns) {
        Block& block = blocks_.emplace_back();
        block.c = (matrix * shape_.m + row) * shape_.n + column;
        block.rows = matrices * rows;
        block.columns = std::min(size.columns, shape_.n - column);
        const std::int64_t end = column + block.columns;
        for (std::int64_t first = column; first < end; first += size.part_columns) {
          for (std::int64_t k = 0; k < shape_.k; k += size.part_k) {
            Part& part = block.parts.emplace_back();
            part.primitive = primitive_for({.matrices = matrices,
                                            .rows = rows,
                                            .columns = std::min(size.part_columns, end - first),
                                            .k = std::min(size.part_k, shape_.k - k),
                                            .adds = k > 0});
            part.a = (shape_.one_a ? 0 : matrix * shape_.m * shape_.k) +
                     (shape_.transpose_a ? k * shape_.m + row : row * shape_.k + k);
            part.b = packs_b_
                         ? first / size.part_columns
                         : (shape_.one_b ? 0 : matrix * shape_.k * shape_.n) +
                               (shape_.transpose_b ? first * shape_.k + k : k * shape_.n + first);
            part.packed = packs_b_ ? k * gapped(std::min(size.part_columns, end - first)) : 0;
            part.bias = first;
            part.c = first - column;
          }
        }
      }
    }
  }
}

std::size_t ProductPlan::primitive_for(const PartSize& size) {
  const auto known = std::ranges::find(primitives_, size, &Primitive::size);
  if (known != primitives_.end()) {
    return static_cast<std::size_t>(known - primitives_.begin());
  }
  const SingleOpenMpThread single;
  std::optional<dnnl::memory::desc> packed_b;
  if (gaps_in_b_) {
    packed_b = b_with_gaps(size.k, size.columns);
  } else if (packs_b_) {
    const auto as_wide = std::ranges::find(primitives_, size.columns,
                                           [](const Primitive& one) { return one.size.columns; });
    packed_b = as_wide == primitives_.end() ? any_b(computed_, size.columns)
                                            : as_wide->description.weights_desc();
  }
  const auto description = describe(computed_, size, steps_, packed_b);
  own_size_ = std::max(own_size_, size_of(description.scratchpad_desc()));
  primitives_.push_back({size, description, dnnl::matmul(description)});
  return primitives_.size() - 1;
}

/// Adds the packing of a part of B, the `columns` that begin with `column`.
void ProductPlan::add_packing(std::int64_t column, std::int64_t columns) {
  const auto from = plain_b(shape_, shape_.b, columns);
  const auto reader = std::ranges::find(primitives_, columns,
                                        [](const Primitive& one) { return one.size.columns; });
  const auto to = gaps_in_b_ ? b_with_gaps(shape_.k, columns) : reader->description.weights_desc();
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const SingleOpenMpThread single;
  const dnnl::reorder::primitive_desc description(cpu_engine(), from, cpu_engine(), to, attributes);
  own_size_ = std::max(own_size_, size_of(description.scratchpad_desc()));
  packings_.push_back({.first = column * (shape_.transpose_b ? shape_.k : 1),
                       .from = from,
                       .to = to,
                       .scratch = description.scratchpad_desc(),
                       .primitive = dnnl::reorder(description),
                       .place = {}});
}

ProductPlan::Factor ProductPlan::factor(DataType dtype, std::int64_t matrix, std::int64_t matrices,
                                        bool by_block) const {
  Factor factor{.dtype = dtype, .matrix = matrix, .matrices = matrices};
  if (dtype != computed_.a) {
    factor.held = by_block ? Factor::Held::by_block : Factor::Held::once;
  }
  return factor;
}

/// Assigns places in the workspaces to what is widened and to blocks of C.
void ProductPlan::make_room(const BlockSize& largest) {
  const auto place_of = [](Bytes& size, Bytes bytes) {
    const Bytes first(ceil_div(size.value(), kLine) * kLine);
    size = first + bytes;
    return first;
  };
  const auto place = [&](Bytes& size, std::int64_t elements) {
    return place_of(size, float32_bytes(elements));
  };
  for (Factor* factor : {&a_, &b_, &bias_}) {
    if (factor->held == Factor::Held::once) {
      factor->place = place(common_size_, factor->matrix * factor->matrices);
    } else if (factor->held == Factor::Held::by_block) {
      factor->place = place(own_size_, factor->matrix * largest.matrices);
    } else if (factor->held == Factor::Held::by_part) {
      factor->place = place(own_size_, largest.part_k * steps_.a);
    }
  }
  for (Packing& packing : packings_) {
    packing.place = place_of(common_size_, size_of(packing.to));
  }
  if (own_c_) c_place_ = place(own_size_, largest.matrices * largest.rows * steps_.c);
}

void ProductPlan::run(const MatmulOperands& operands, WorkerPool& pool, Workspace& workspace,
                      const ProductFinish& finish) {
  workspace.require(own_size_, common_size_);
  const auto widen_once = [&](const Factor& factor, const std::byte* from) {
    if (factor.held != Factor::Held::once) return;
    share(pool, factor.matrix * factor.matrices, kWideningGrain,
          [from, to = workspace.common() + factor.place.value()](std::int64_t begin,
                                                                 std::int64_t end, int) {
            widen(from, begin, end - begin, to + begin * kFloat);
          });
  };
  widen_once(a_, operands.a);
  widen_once(b_, operands.b);
  widen_once(bias_, operands.bias);
  if (packs_b_) {
    pool.run(static_cast<int>(packings_.size()), [&](int index, int worker) {
      pack(packings_[static_cast<std::size_t>(index)],
           {operands, finish, workspace.common(), workspace.of(worker)}, worker);
    });
  }
  pool.run(static_cast<int>(blocks_.size()), [&](int index, int worker) {
    run_block(blocks_[static_cast<std::size_t>(index)],
              {operands, finish, workspace.common(), workspace.of(worker)}, worker);
  });
}

void ProductPlan::pack(const Packing& packing, const Job& job, int worker) {
  const SingleOpenMpThread single;
  const std::byte* const values = job.operands.b + packing.first * bytes_of(shape_.b);
  const auto memory = [](const dnnl::memory::desc& description, const std::byte* at) {
    return dnnl::memory(description, cpu_engine(), const_cast<std::byte*>(at));
  };
  packing.primitive.execute(executions_[static_cast<std::size_t>(worker)][0].stream,
                            {{DNNL_ARG_FROM, memory(packing.from, values)},
                             {DNNL_ARG_TO, memory(packing.to, job.common + packing.place.value())},
                             {DNNL_ARG_SCRATCHPAD, memory(packing.scratch, job.own)}});
}

void ProductPlan::run_block(const Block& block, const Job& job, int worker) {
  const SingleOpenMpThread single;
  std::optional<HeldSignals> held;
  if (shape_.k > kKeepsStack) held.emplace();
  const std::int64_t size = bytes_of(computed_.result);
  std::byte* const c = own_c_ ? job.own + c_place_.value() : job.operands.c + block.c * size;
  for (const Part& part : block.parts) {
    const Primitive& primitive = primitives_[part.primitive];
    const Execution& own = executions_[static_cast<std::size_t>(worker)][part.primitive];
    const std::int64_t matrices = primitive.size.matrices;
    if (a_.held == Factor::Held::by_part) {
      own.a.set_data_handle(copied_a(part, primitive.size, job));
    } else {
      own.a.set_data_handle(found(a_, job.operands.a, part.a, matrices, job));
    }
    own.b.set_data_handle(found(b_, job.operands.b, part.b, matrices, job) + part.packed * kFloat);
    const bool biased = shape_.bias && !primitive.size.adds;
    if (biased) {
      own.bias.set_data_handle(found(bias_, job.operands.bias, part.bias, matrices, job));
    }
    own.c.set_data_handle(c + part.c * size);
    own.scratch.set_data_handle(job.own);
    own.run(primitive.primitive, biased);
  }
  finish_block(block, job, c);
}

/// Returns where oneDNN reads element `first` and the `matrices` from there on, for a factor with
/// `values`.
std::byte* ProductPlan::found(const Factor& factor, const std::byte* values, std::int64_t first,
                              std::int64_t matrices, const Job& job) const {
  switch (factor.held) {
    case Factor::Held::once:
      return job.common + factor.place.value() + first * kFloat;
    case Factor::Held::by_block: {
      std::byte* const to = job.own + factor.place.value();
      widen(values, first, factor.matrix * matrices, to);
      return to;
    }
    case Factor::Held::packed:
      return job.common + packings_[static_cast<std::size_t>(first)].place.value();
    case Factor::Held::by_part:
    case Factor::Held::as_it_is:
      break;
  }
  // oneDNN takes operands as void*, even those that it only reads.
  return const_cast<std::byte*>(values + first * bytes_of(factor.dtype));
}

/// Copies what a part reads of a transposed A into the worker's workspace, with gaps.
std::byte* ProductPlan::copied_a(const Part& part, const PartSize& size, const Job& job) const {
  std::byte* const to = job.own + a_.place.value();
  for (std::int64_t k = 0; k < size.k; ++k) {
    const std::int64_t first = part.a + k * shape_.m;
    std::byte* const row = to + k * steps_.a * kFloat;
    if (a_.dtype == DataType::float32) {
      std::memcpy(row, job.operands.a + first * kFloat,
                  static_cast<std::size_t>(size.rows * kFloat));
    } else {
      widen(job.operands.a, first, size.rows, row);
    }
  }
  return to;
}

/// Rounds and stores a block that lies in `values`, and runs the pass on it.
void ProductPlan::finish_block(const Block& block, const Job& job, std::byte* values) const {
  const auto& [pass, wants_rounded] = job.finish;
  if (!rounds_ && pass == nullptr) return;
  const bool rounds = rounds_ && (shape_.stores_result || wants_rounded);
  const bool stores = shape_.stores_result && own_c_;
  const bool whole_rows = block.columns == shape_.n;  // Only blocks of a single matrix are cut.
  const std::int64_t at_once =
      whole_rows ? std::max(std::int64_t{1}, kFinished / block.columns) : 1;
  for (std::int64_t row = 0; row < block.rows; row += at_once) {
    const std::int64_t first = block.c + row * shape_.n;
    const std::int64_t count = std::min(at_once, block.rows - row) * block.columns;
    std::byte* const part = values + row * steps_.c * bytes_of(computed_.result);
    if (rounds) {
      auto* halves = reinterpret_cast<Half*>(job.operands.c) + first;
      round_to_bfloat16(reinterpret_cast<float*>(part), count, stores ? halves : nullptr);
    }
    if (pass != nullptr) pass->run_range(first, first + count, part);
  }
}

}  // namespace howard::host
