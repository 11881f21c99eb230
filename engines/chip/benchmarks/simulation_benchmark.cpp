// SPDX-License-Identifier: Apache-2.0
// Measures how many programs the emulator runs in a second of real time, with timing only: enqueued
// one by one by the host (planned once, then looked up), and replayed from a trace of 100.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "engines/chip/emulated_chip.h"

namespace {

using namespace howard;

/// A product of 256x256x256, on a device of its own.
struct Product {
  Operand tensor() {
    const TensorSpec spec{{256, 256}};
    return {device.allocate(spec), spec};
  }

  chip::EmulatedChip device{chip::load_profiles()};
  CommandQueue& queue = device.command_queue(0);
  Program program{.name = "matmul",
                  .attributes = MatmulAttributes{},
                  .inputs = {tensor(), tensor()},
                  .outputs = {tensor()}};
};

constexpr int kPrograms = 100;

void enqueued_programs(benchmark::State& state) {
  Product product;
  for ([[maybe_unused]] auto iteration : state) {
    for (int i = 0; i < kPrograms; ++i) product.queue.enqueue(product.program);
    product.queue.finish();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kPrograms);
}
BENCHMARK(enqueued_programs);

void replayed_programs(benchmark::State& state) {
  Product product;
  product.queue.begin_trace_capture();
  for (int i = 0; i < kPrograms; ++i) product.queue.enqueue(product.program);
  const TraceId trace = product.queue.end_trace_capture();
  for ([[maybe_unused]] auto iteration : state) {
    product.queue.execute_trace(trace);
    product.queue.finish();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kPrograms);
}
BENCHMARK(replayed_programs);

}  // namespace
