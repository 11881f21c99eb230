// SPDX-License-Identifier: Apache-2.0
// This measures what profiling costs: recording an event must stay below 20 ns, not recording one
// must be too small to measure beside anything that a device does, and exporting a million events
// must stay below 2 s.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/events/timeline_event.h"
#include "profiler/event_recorder.h"
#include "profiler/formats/traces/chrome_trace.h"

namespace {

using howard::Lane;
using howard::SimTime;
using howard::TimelineEvent;
using howard::TrackKind;

TimelineEvent core_event(std::int64_t number) {
  constexpr int kCores = 56;
  const auto core = static_cast<int>(number % kCores);
  const SimTime start = SimTime::nanoseconds(number / kCores * 700 + core);
  return {.track = {TrackKind::core, Lane::compute, howard::core_index(core % 8, core / 8)},
          .name = "matmul",
          .category = "kernel",
          .start = start,
          .end = start + SimTime::picoseconds(612'345),
          .program = static_cast<std::uint64_t>(number / kCores + 1)};
}

void record_event(benchmark::State& state) {
  howard::profiler::EventRecorder recorder;
  std::int64_t number = 0;
  const TimelineEvent event = core_event(0);
  for (auto _ : state) {
    if (++number % static_cast<std::int64_t>(recorder.kDefaultCapacity) == 0) recorder.clear();
    recorder.record(event);
  }
}
BENCHMARK(record_event);

/// Nobody listens; a device still pays for this branch.
void null_sink(benchmark::State& state) {
  howard::EventSink* sink = nullptr;
  const TimelineEvent event = core_event(0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(sink);
    if (sink != nullptr) sink->record(event);
  }
}
BENCHMARK(null_sink);

/// Records into memory that was not used before, as a short run does.
void record_event_first_use(benchmark::State& state) {
  constexpr std::int64_t kEvents = 100'000;
  const TimelineEvent event = core_event(0);
  for (auto _ : state) {
    howard::profiler::EventRecorder recorder;
    for (std::int64_t i = 0; i < kEvents; ++i) recorder.record(event);
    benchmark::DoNotOptimize(recorder.events().data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kEvents);
}
BENCHMARK(record_event_first_use);

void export_events(benchmark::State& state) {
  std::vector<TimelineEvent> events;
  for (std::int64_t i = 0; i < state.range(0); ++i) events.push_back(core_event(i));
  const howard::profiler::TraceProcess process{.name = "point", .events = events};
  std::size_t bytes = 0;
  for (auto _ : state) {
    bytes = howard::profiler::chrome_trace({&process, 1}).json.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
  state.counters["bytes_per_event"] =
      static_cast<double>(bytes) / static_cast<double>(state.range(0));
}
BENCHMARK(export_events)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
