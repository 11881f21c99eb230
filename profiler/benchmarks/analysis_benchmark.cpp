// SPDX-License-Identifier: Apache-2.0
// This measures what analysing costs for a million programs, recorded as the emulator records them,
// and for a million memory events.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/events/timeline_event.h"
#include "base/units.h"
#include "profiler/bottleneck.h"
#include "profiler/critical_path.h"
#include "profiler/dispatch_gaps.h"
#include "profiler/memory.h"
#include "profiler/timeline.h"

namespace {

using howard::Lane;
using howard::MemoryAction;
using howard::MemoryEvent;
using howard::SimTime;
using howard::TimelineEvent;
using howard::Track;
using howard::TrackKind;
namespace profiler = howard::profiler;

/// Returns calls, dispatches and kernels on two queues and sub-devices, with a finish after every
/// hundredth.
std::vector<TimelineEvent> events_of(std::int64_t programs) {
  constexpr std::array<std::string_view, 4> kOps{"matmul", "add", "exp", "transpose"};
  std::vector<TimelineEvent> events;
  events.reserve(static_cast<std::size_t>(3 * programs + programs / 100));
  const auto record = [&](TrackKind kind, std::int64_t index, std::string_view name,
                          std::string_view category, std::int64_t start_ns, std::int64_t length_ns,
                          std::int64_t program) {
    const SimTime start = SimTime::nanoseconds(start_ns);
    events.push_back({.track = {kind, Lane::none, static_cast<std::uint16_t>(index)},
                      .name = name,
                      .category = category,
                      .start = start,
                      .end = start + SimTime::nanoseconds(length_ns),
                      .program = static_cast<std::uint64_t>(program)});
  };
  for (std::int64_t i = 0; i < programs; ++i) {
    const std::int64_t now = i * 30'000;
    const std::int64_t queue = i % 2;
    const std::string_view name = kOps[static_cast<std::size_t>(i % 4)];
    record(TrackKind::host_thread, 0, name, "host", now, 20'000, i + 1);
    record(TrackKind::dispatcher, queue, name, "dispatch", now + 20'000, 5'000, i + 1);
    record(TrackKind::sub_device, queue, name, "kernel", now + 26'000, 20'000 + i % 7 * 5'000,
           i + 1);
    if (i % 100 == 0) record(TrackKind::host_thread, 0, "finish", "finish", now + 20'000, 9'000, 0);
  }
  return events;
}

void timeline_of_events(benchmark::State& state) {
  const std::vector<TimelineEvent> events = events_of(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(profiler::timeline_of(events).programs.data());
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(timeline_of_events)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void find_gaps(benchmark::State& state) {
  const profiler::Timeline timeline = profiler::timeline_of(events_of(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(profiler::find_gaps(timeline, profiler::LaneKind::sub_device).data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(find_gaps)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void gap_totals(benchmark::State& state) {
  const profiler::Timeline timeline = profiler::timeline_of(events_of(state.range(0)));
  const std::vector<profiler::BusyLane> lanes =
      profiler::find_gaps(timeline, profiler::LaneKind::device);
  for (auto _ : state) {
    benchmark::DoNotOptimize(profiler::time_by_cause(lanes).total());
    benchmark::DoNotOptimize(profiler::gaps_by_ops(timeline, lanes).data());
    benchmark::DoNotOptimize(profiler::gap_histogram(lanes).data());
    benchmark::DoNotOptimize(profiler::sequential_gaps(lanes).gaps);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(gap_totals)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void critical_path(benchmark::State& state) {
  const profiler::Timeline timeline = profiler::timeline_of(events_of(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(profiler::critical_path(timeline, {}).programs.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(critical_path)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void find_bottlenecks(benchmark::State& state) {
  std::vector<profiler::OpRun> runs;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    runs.push_back({.name = i % 2 == 0 ? "matmul" : "add",
                    .duration = SimTime::microseconds(20 + i % 7),
                    .idle_before = SimTime::microseconds(i % 3),
                    .flops = howard::Flops(1'000'000 * (i % 40)),
                    .dram = howard::Bytes(100'000 * (i % 30)),
                    .peak_flops = 7e13,
                    .peak_bandwidth = 258e9,
                    .limited_by = "unpack"});
  }
  for (auto _ : state) benchmark::DoNotOptimize(profiler::find_bottlenecks(runs).by_op.data());
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(find_bottlenecks)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void memory_use(benchmark::State& state) {
  std::vector<MemoryEvent> events;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    const bool allocates = i % 2000 < 1000;
    events.push_back({.time = SimTime::nanoseconds(i),
                      .action = allocates ? MemoryAction::allocate : MemoryAction::release,
                      .buffer = static_cast<std::uint64_t>(i % 1000),
                      .size = howard::Bytes(2048 * (i % 50)),
                      .name = "activation",
                      .phase = allocates ? "forward" : "backward"});
  }
  for (auto _ : state) benchmark::DoNotOptimize(profiler::memory_use(events).curve.data());
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(memory_use)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
