// SPDX-License-Identifier: Apache-2.0
// Does the host engine multiply as fast as oneDNN's own threads? (The aim is at least 90 % of their
// rate at every shape.) All repetitions are shuffled in one run, so that other load on the machine
// affects both alike:
//    howard_matmul/MxKxN/TYPE         enqueue and finish, one product at a time
//    howard_matmul_queued/MxKxN/TYPE  enqueue only, with a finish every millisecond of work
//    onednn_matmul/MxKxN/TYPE         one oneDNN primitive over the same number of threads
// Compare the medians of FLOP/s. Run it under taskset for fewer threads.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dnnl.hpp>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engines/device/bfloat16.h"
#include "engines/host/benchmarks/interleaved_runs.h"
#include "engines/host/host_device.h"
#include "engines/host/host_memory.h"
#include "engines/host/kernels/matmul/onednn_part.h"

namespace {

using howard::DataType;

struct Problem {
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  DataType dtype{};

  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  }
};

/// Returns `elements` values in [-1, 1), as a buffer of `dtype` holds them.
std::vector<std::byte> random_values(std::int64_t elements, DataType dtype, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  const auto count = static_cast<std::size_t>(elements);
  std::vector<std::byte> bytes(count * (dtype == DataType::float32 ? 4 : 2));
  for (std::size_t i = 0; i < count; ++i) {
    const float value = values(random);
    if (dtype == DataType::float32) {
      std::memcpy(&bytes[i * 4], &value, 4);
    } else {
      const std::uint16_t bits = howard::to_bfloat16(value);
      std::memcpy(&bytes[i * 2], &bits, 2);
    }
  }
  return bytes;
}

/// Returns the same, aligned as the device's buffers are.
howard::host::AlignedBytes aligned_values(std::int64_t elements, DataType dtype, unsigned seed) {
  const std::vector<std::byte> values = random_values(elements, dtype, seed);
  auto aligned =
      howard::host::allocate_aligned(howard::Bytes(static_cast<std::int64_t>(values.size())));
  std::ranges::copy(values, aligned.get());
  return aligned;
}

/// After oneDNN's own products, libgomp's threads look for more work for milliseconds and would
/// slow down whatever is measured next.
void let_threads_sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

void count_flops(benchmark::State& state, const Problem& problem) {
  state.counters["FLOP/s"] =
      benchmark::Counter(problem.flops(), benchmark::Counter::kIsIterationInvariantRate);
}

/// Makes the operands of one product on the device; they are kept from repetition to repetition.
howard::Program open_program(howard::Device& device, const Problem& problem) {
  const auto operand = [&](std::int64_t rows, std::int64_t columns, unsigned seed) {
    const howard::TensorSpec spec{.shape = {rows, columns}, .dtype = problem.dtype};
    const howard::BufferId buffer = device.allocate(spec);
    device.command_queue(0).write_buffer(buffer, random_values(rows * columns, spec.dtype, seed));
    return howard::Operand{buffer, spec};
  };
  return {.name = "matmul",
          .attributes = howard::MatmulAttributes{},
          .inputs = {operand(problem.m, problem.k, 1), operand(problem.k, problem.n, 2)},
          .outputs = {operand(problem.m, problem.n, 3)},
          .flops = {}};
}

/// `products` is the number of products between two finishes.
void howard_matmul(benchmark::State& state, howard::Device& device, const Problem& problem,
                   std::int64_t products) {
  let_threads_sleep();
  const howard::Program program = open_program(device, problem);
  howard::CommandQueue& queue = device.command_queue(0);
  queue.enqueue(program);
  queue.finish();
  std::int64_t enqueued = 0;
  for (auto _ : state) {
    queue.enqueue(program);
    if (++enqueued % products == 0) queue.finish();
  }
  queue.finish();
  count_flops(state, problem);
  for (const howard::Operand& input : program.inputs) device.release(input.buffer);
  device.release(program.outputs[0].buffer);
}

void onednn_matmul(benchmark::State& state, int threads, const Problem& problem) {
  using dnnl::memory;
  let_threads_sleep();
  omp_set_num_threads(threads);
  const dnnl::engine& engine = howard::host::cpu_engine();
  dnnl::stream stream(engine);
  const auto type =
      problem.dtype == DataType::float32 ? memory::data_type::f32 : memory::data_type::bf16;
  const auto desc = [&](std::int64_t rows, std::int64_t columns) {
    return memory::desc({rows, columns}, type, memory::format_tag::ab);
  };
  const auto a = aligned_values(problem.m * problem.k, problem.dtype, 1);
  const auto b = aligned_values(problem.k * problem.n, problem.dtype, 2);
  const auto c = aligned_values(problem.m * problem.n, problem.dtype, 3);
  const auto description = howard::host::product_of(
      {}, desc(problem.m, problem.k), desc(problem.k, problem.n), desc(problem.m, problem.n));
  const dnnl::matmul matmul(description);
  const std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, memory(description.src_desc(), engine, a.get())},
      {DNNL_ARG_WEIGHTS, memory(description.weights_desc(), engine, b.get())},
      {DNNL_ARG_DST, memory(description.dst_desc(), engine, c.get())}};
  matmul.execute(stream, arguments);
  for (auto _ : state) {
    matmul.execute(stream, arguments);
    stream.wait();
  }
  count_flops(state, problem);
}

void add_benchmark(const std::string& name, const Problem& problem,
                   const std::function<void(benchmark::State&)>& run) {
  const std::string full = fmt::format("{}/{}x{}x{}/{}", name, problem.m, problem.k, problem.n,
                                       howard::name_of(problem.dtype));
  benchmark::RegisterBenchmark(full.c_str(), run)->UseRealTime()->Unit(benchmark::kMicrosecond);
}

void add_benchmarks(howard::host::HostDevice& device, const Problem& problem) {
  constexpr double kFlopsPerMillisecond = 5e8;
  const auto queued =
      std::max(std::int64_t{1}, static_cast<std::int64_t>(kFlopsPerMillisecond / problem.flops()));
  add_benchmark("howard_matmul", problem, [&device, problem](benchmark::State& state) {
    howard_matmul(state, device, problem, 1);
  });
  add_benchmark("howard_matmul_queued", problem, [&device, problem, queued](auto& state) {
    howard_matmul(state, device, problem, queued);
  });
  add_benchmark("onednn_matmul", problem, [&device, problem](benchmark::State& state) {
    onednn_matmul(state, device.threads(), problem);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (!howard::benchmarks::interleave_runs(argc, argv, 9, "0.05")) return 1;

  howard::host::HostDevice device;
  for (const DataType dtype : {DataType::bfloat16, DataType::float32}) {
    for (const std::int64_t n : {128, 256, 512, 1024, 2048, 4096}) {
      add_benchmarks(device, {.m = n, .k = n, .n = n, .dtype = dtype});
    }
    add_benchmarks(device, {.m = 1024, .k = 512, .n = 512, .dtype = dtype});
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
