// SPDX-License-Identifier: Apache-2.0
// Do the host's kernels run at the machine's copy bandwidth? The benchmark runs each op on tensors
// of two sizes, in the caches (2^18 elements) and in main memory (2^24), beside a plain copy of as
// many bytes by as many threads. All repetitions are shuffled in one run, so that other load on the
// machine affects both alike:
//    OP/TYPE/ELEMENTS    enqueue and finish, again and again
//    copy/TYPE/ELEMENTS  std::memcpy of a tensor
// Compare the medians of bytes/s (read and written). Run it under taskset for fewer threads.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engines/host/benchmarks/interleaved_runs.h"
#include "engines/host/host_device.h"
#include "engines/host/kernels/kernel.h"

namespace {

using howard::DataType;
using howard::Eltwise;
using howard::Shape;
using howard::TensorSpec;

/// An op with its operands, which are all of one type except indices.
struct Case {
  std::string name;
  howard::Attributes attributes;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<std::size_t> in_place = {};  ///< For each output, the input it replaces.
};

constexpr std::int64_t kColumns = 512;

/// The operands of a case, and the number of bytes it reads and writes.
class Operands {
 public:
  Operands(howard::Device& device, const Case& work) : device_(device) {
    program_ = {
        .name = "op", .attributes = work.attributes, .inputs = {}, .outputs = {}, .flops = {}};
    for (const TensorSpec& spec : work.inputs) program_.inputs.push_back(allocate(spec));
    for (std::size_t i = 0; i < work.outputs.size(); ++i) {
      if (i < work.in_place.size()) {
        program_.outputs.push_back(program_.inputs[work.in_place[i]]);
        bytes_ += work.outputs[i].host_bytes().value();
      } else {
        program_.outputs.push_back(allocate(work.outputs[i]));
      }
    }
  }
  ~Operands() {
    for (const howard::BufferId buffer : buffers_) device_.release(buffer);
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  const howard::Program& program() const { return program_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  /// Indices are 0; real numbers are 0.5 in bfloat16, and close to it in float32.
  howard::Operand allocate(const TensorSpec& spec) {
    const auto size = static_cast<std::size_t>(spec.host_bytes().value());
    std::vector<std::byte> values(size, std::byte{0});
    for (std::size_t i = 1; i < size && spec.dtype != DataType::uint32; i += 2) {
      values[i] = std::byte{0x3f};
    }
    buffers_.push_back(device_.allocate(spec));
    device_.command_queue(0).write_buffer(buffers_.back(), values);
    bytes_ += spec.host_bytes().value();
    return {buffers_.back(), spec};
  }

  howard::Device& device_;
  howard::Program program_;
  std::vector<howard::BufferId> buffers_;
  std::int64_t bytes_ = 0;
};

void count_bytes(benchmark::State& state, std::int64_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * bytes);
}

void run_op(benchmark::State& state, howard::Device& device, const Case& work) {
  const Operands operands(device, work);
  howard::CommandQueue& queue = device.command_queue(0);
  queue.enqueue(operands.program());
  queue.finish();
  for (auto _ : state) {
    queue.enqueue(operands.program());
    queue.finish();
  }
  count_bytes(state, operands.bytes());
}

void copy(benchmark::State& state, howard::host::WorkerPool& pool, std::int64_t bytes) {
  const std::vector<char> from(static_cast<std::size_t>(bytes), 1);
  std::vector<char> to(from.size());
  for (auto _ : state) {
    howard::host::share(pool, bytes, std::int64_t{32} * 1024,
                        [&](std::int64_t begin, std::int64_t end, int) {
                          std::memcpy(to.data() + begin, from.data() + begin,
                                      static_cast<std::size_t>(end - begin));
                        });
    benchmark::ClobberMemory();
  }
  count_bytes(state, 2 * bytes);
}

std::vector<Case> elementwise_cases(const TensorSpec& x) {
  std::vector<Case> cases;
  const auto function = [](Eltwise which) {
    return howard::EltwiseAttributes{.function = which, .scalar = {}};
  };
  const TensorSpec row{{kColumns}, x.dtype};
  cases.push_back({"fill", howard::EltwiseAttributes{Eltwise::fill, 1.0F}, {}, {x}});
  cases.push_back({"add", function(Eltwise::add), {x, x}, {x}});
  cases.push_back({"add_in_place", function(Eltwise::add), {x, x}, {x}, {0}});
  cases.push_back({"add_row", function(Eltwise::add), {x, row}, {x}});
  cases.push_back({"scale", howard::EltwiseAttributes{Eltwise::multiply, 0.5F}, {x}, {x}});
  for (const Eltwise unary : {Eltwise::relu, Eltwise::exp, Eltwise::erf, Eltwise::gelu,
                              Eltwise::sqrt, Eltwise::rsqrt, Eltwise::reciprocal}) {
    cases.push_back({std::string(name_of(unary)), function(unary), {x}, {x}});
  }
  const DataType other = x.dtype == DataType::float32 ? DataType::bfloat16 : DataType::float32;
  cases.push_back({"cast", function(Eltwise::cast), {x}, {{x.shape, other}}});
  cases.push_back({"gelu_backward", howard::GeluBackwardAttributes{}, {x, x}, {x}});
  cases.push_back({"dropout", howard::DropoutAttributes{.probability = 0.1F}, {x}, {x}});
  cases.push_back({"adamw", howard::AdamWAttributes{}, {x, x, x, x}, {x, x, x}, {0, 2, 3}});
  return cases;
}

std::vector<Case> other_cases(const TensorSpec& x) {
  using howard::Dimension;
  const std::int64_t rows = x.shape.rows();
  const TensorSpec row{{kColumns}, x.dtype};
  const TensorSpec column{{rows, 1}, x.dtype};
  const TensorSpec indices{{1, rows}, DataType::uint32, howard::Layout::row_major};
  const TensorSpec looked_up{{1, rows, kColumns}, x.dtype};
  const TensorSpec table{{256, kColumns}, x.dtype};
  const TensorSpec heads{{rows / 256, 8, 256, kColumns / 8}, x.dtype};
  const TensorSpec joined{{rows / 256, 1, 256, kColumns}, x.dtype};
  const TensorSpec qkv{{rows / 256, 1, 256, 3 * kColumns}, x.dtype};
  const auto sum = [](Dimension along) { return howard::ReduceAttributes{.dimension = along}; };
  return {
      {"sum_columns", sum(Dimension::columns), {x}, {column}},
      {"sum_rows", sum(Dimension::rows), {x}, {{{1, kColumns}, x.dtype}}},
      {"sum_all", sum(Dimension::all), {x}, {{{1}, x.dtype}}},
      {"reshape", howard::ReshapeAttributes{}, {x}, {{{kColumns, rows}, x.dtype}}},
      {"transpose", howard::TransposeAttributes{}, {x}, {{{kColumns, rows}, x.dtype}}},
      {"concat_heads", howard::ConcatHeadsAttributes{}, {heads}, {joined}},
      {"split_heads", howard::SplitHeadsAttributes{.heads = 8}, {qkv}, {heads, heads, heads}},
      {"softmax", howard::SoftmaxAttributes{}, {x}, {x}},
      {"softmax_backward", howard::SoftmaxBackwardAttributes{}, {x, x}, {x}},
      {"layernorm", howard::TtmlLayernormAttributes{}, {x, row, row}, {x, column, column}},
      {"layernorm_backward",
       howard::LayernormBackwardAttributes{},
       {x, row, column, column, x},
       {x, x, x}},
      {"embedding", howard::EmbeddingAttributes{}, {indices, table}, {looked_up}},
      {"embedding_backward", howard::EmbeddingBackwardAttributes{}, {indices, looked_up}, {table}},
      {"cross_entropy", howard::CrossEntropyAttributes{}, {x, indices}, {column}},
      {"cross_entropy_backward", howard::CrossEntropyBackwardAttributes{}, {x, indices}, {x}},
  };
}

template <class Run>
void add_benchmark(const std::string& name, const TensorSpec& x, const Run& run) {
  const std::string full = fmt::format("{}/{}/{}", name, name_of(x.dtype), x.shape.elements());
  benchmark::RegisterBenchmark(full.c_str(), run)->UseRealTime()->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int argc, char** argv) {
  if (!howard::benchmarks::interleave_runs(argc, argv, 5, "0.02")) return 1;

  howard::host::HostDevice device;
  howard::host::WorkerPool pool(device.threads());
  for (const std::int64_t elements : {std::int64_t{1} << 18, std::int64_t{1} << 24}) {
    for (const DataType dtype : {DataType::bfloat16, DataType::float32}) {
      const TensorSpec x{{elements / kColumns, kColumns}, dtype};
      std::vector<Case> cases = elementwise_cases(x);
      for (Case& other : other_cases(x)) cases.push_back(std::move(other));
      add_benchmark("copy", x, [&pool, x](benchmark::State& state) {
        copy(state, pool, x.host_bytes().value());
      });
      for (const Case& work : cases) {
        add_benchmark(work.name, x,
                      [&device, work](benchmark::State& state) { run_op(state, device, work); });
      }
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
