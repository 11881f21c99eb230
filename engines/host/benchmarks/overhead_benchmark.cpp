// SPDX-License-Identifier: Apache-2.0
// What does the host engine add to a kernel? (The aim is at most 1 us for an op that is enqueued
// and 50 ns for an op of a trace, on tensors of 32x32.) All repetitions are shuffled in one run:
//    kernel/OP    the ready kernel, called
//    traced/OP    an op of a trace of 1000, replayed and waited for
//    dynamic/OP   an op of 1000 that are enqueued one by one and then waited for
// Compare the medians of the time per op. What exceeds the kernel's time is the engine's cost.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "engines/host/benchmarks/interleaved_runs.h"
#include "engines/host/host_device.h"
#include "engines/host/kernels/kernels.h"

namespace {

using howard::Eltwise;

constexpr int kOps = 1000;

struct Op {
  std::string name;
  howard::Program program;
};

howard::Operand tensor(howard::Device& device, const howard::Shape& shape) {
  const howard::TensorSpec spec{shape, howard::DataType::bfloat16};
  const howard::BufferId buffer = device.allocate(spec);
  const std::vector<std::byte> zeros(static_cast<std::size_t>(spec.host_bytes().value()));
  device.command_queue(0).write_buffer(buffer, zeros);
  return {buffer, spec};
}

std::vector<Op> ops(howard::Device& device) {
  const howard::Operand a = tensor(device, {32, 32});
  const howard::Operand b = tensor(device, {32, 32});
  const howard::Operand out = tensor(device, {32, 32});
  const howard::Operand one = tensor(device, {1});
  const auto function = [](Eltwise which) {
    return howard::EltwiseAttributes{.function = which, .scalar = {}};
  };
  const auto make = [](const howard::Attributes& attributes, std::vector<howard::Operand> inputs,
                       const howard::Operand& output) {
    return howard::Program{.name = "op",
                           .attributes = attributes,
                           .inputs = std::move(inputs),
                           .outputs = {output},
                           .flops = {}};
  };
  return {{"relu_1x1", make(function(Eltwise::relu), {one}, one)},
          {"relu", make(function(Eltwise::relu), {a}, out)},
          {"add", make(function(Eltwise::add), {a, b}, out)},
          {"softmax", make(howard::SoftmaxAttributes{}, {a}, out)},
          {"matmul", make(howard::MatmulAttributes{}, {a, b}, out)}};
}

/// Measures the time per op of `run`, which runs kOps of them.
void measure(benchmark::State& state, const std::function<void()>& run) {
  for (auto _ : state) run();
  state.counters["s/op"] = benchmark::Counter(
      kOps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void dynamic(benchmark::State& state, howard::Device& device, const howard::Program& program) {
  howard::CommandQueue& queue = device.command_queue(0);
  measure(state, [&] {
    for (int i = 0; i < kOps; ++i) queue.enqueue(howard::Program(program));
    queue.finish();
  });
}

void traced(benchmark::State& state, howard::Device& device, const howard::Program& program) {
  howard::CommandQueue& queue = device.command_queue(0);
  queue.begin_trace_capture();
  for (int i = 0; i < kOps; ++i) queue.enqueue(program);
  const howard::TraceId trace = queue.end_trace_capture();
  measure(state, [&] {
    queue.execute_trace(trace);
    queue.finish();
  });
  device.release_trace(trace);
}

/// Measures elementwise and softmax kernels only; a product's kernel belongs to a device.
void kernel(benchmark::State& state, const howard::Program& program) {
  howard::host::WorkerPool pool(1);
  howard::host::Workspace workspace(1);
  const howard::host::KernelContext context{pool, workspace};
  std::vector<howard::host::AlignedBytes> values;
  std::vector<std::byte*> inputs;
  for (const howard::Operand& input : program.inputs) {
    values.push_back(howard::host::allocate_aligned(input.spec.host_bytes()));
    std::fill_n(values.back().get(), input.spec.host_bytes().value(), std::byte{0});
    inputs.push_back(values.back().get());
  }
  values.push_back(howard::host::allocate_aligned(program.outputs[0].spec.host_bytes()));
  std::vector<std::byte*> outputs{values.back().get()};
  const howard::host::Call call(program, inputs, outputs);
  howard::host::Kernel ready;
  if (const auto* eltwise = std::get_if<howard::EltwiseAttributes>(&program.attributes)) {
    ready = howard::host::make_kernel(*eltwise, call, context);
  } else {
    ready = howard::host::make_kernel(std::get<howard::SoftmaxAttributes>(program.attributes), call,
                                      context);
  }
  measure(state, [&] {
    for (int i = 0; i < kOps; ++i) {
      ready();
      benchmark::ClobberMemory();
    }
  });
}

void add_benchmark(const std::string& name, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime()->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int argc, char** argv) {
  if (!howard::benchmarks::interleave_runs(argc, argv, 9, "0.02")) return 1;

  howard::host::HostDevice device;
  for (const Op& op : ops(device)) {
    if (!std::holds_alternative<howard::MatmulAttributes>(op.program.attributes)) {
      add_benchmark("kernel/" + op.name, [op](benchmark::State& s) { kernel(s, op.program); });
    }
    add_benchmark("traced/" + op.name,
                  [&device, op](benchmark::State& s) { traced(s, device, op.program); });
    add_benchmark("dynamic/" + op.name,
                  [&device, op](benchmark::State& s) { dynamic(s, device, op.program); });
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
