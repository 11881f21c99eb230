// SPDX-License-Identifier: Apache-2.0
//
// How long a query takes: of calls that were not asked before, of calls that were, of batches, and
// of several threads on one model.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "engines/query/op.h"

namespace howard::query {
namespace {

const OpModel& model() {
  static const OpModel model({.eth_dispatch = true});
  return model;
}

/// Returns one of a compiler's candidates: ops of a decoder, in DRAM or L1, of many sizes.
OpCall candidate(std::int64_t number) {
  const std::int64_t rows = 32 * (1 + number % 512), columns = 32 * (1 + number / 512);
  const Storage place = number % 3 == 0 ? Storage::l1 : Storage::dram;
  const TensorSpec x{{rows, columns}, DataType::bfloat16, Layout::tile, place};
  const TensorSpec weight{{columns, 1024}, DataType::bfloat8_b};
  switch (number % 4) {
    case 0:
      return {.op = "matmul", .inputs = {x, weight}};
    case 1:
      return {.op = "add", .inputs = {x, x}, .outputs = {x}};
    case 2:
      return {.op = "gelu", .inputs = {x}, .outputs = {x}};
    default:
      return {.op = "softmax", .inputs = {x}, .outputs = {x}};
  }
}

void new_queries(benchmark::State& state) {
  static std::int64_t number = 0;
  for (auto run : state) benchmark::DoNotOptimize(model().answer(candidate(number++)));
}
BENCHMARK(new_queries)->Iterations(100'000);

void repeated_queries(benchmark::State& state) {
  const OpCall call = candidate(4 * state.thread_index());
  for (auto run : state) benchmark::DoNotOptimize(model().answer(call));
}
BENCHMARK(repeated_queries)->ThreadRange(1, 2)->UseRealTime();

/// Each thread asks what nobody asked before.
void new_queries_of_threads(benchmark::State& state) {
  std::int64_t number = 10'000'000 * (1 + state.thread_index()) + state.threads() * 1'000'000;
  for (auto run : state) benchmark::DoNotOptimize(model().answer(candidate(number++)));
}
BENCHMARK(new_queries_of_threads)->ThreadRange(1, 2)->Iterations(50'000)->UseRealTime();

void batches(benchmark::State& state) {
  std::vector<OpCall> calls;
  for (std::int64_t i = 0; i < 1000; ++i) calls.push_back(candidate(100'000'000 + i));
  for (auto run : state) benchmark::DoNotOptimize(model().answers(calls));
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(batches);

}  // namespace
}  // namespace howard::query
