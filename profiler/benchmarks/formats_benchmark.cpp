// SPDX-License-Identifier: Apache-2.0
// This measures what reading logs and writing traces costs. Ops CSVs must be read at more than 2
// GB/s on two cores (pandas reads their rows at 0.1 GB/s: pandas_peer.py). A million spans must
// take less than 2 s.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/events/timeline_event.h"
#include "profiler/formats/log_file.h"
#include "profiler/formats/traces/chrome_trace.h"
#include "profiler/formats/traces/perfetto_trace.h"
#include "profiler/formats/tt_metal_logs.h"

namespace {

using namespace howard::profiler;
using howard::SimTime;
using howard::TimelineEvent;
using howard::TrackKind;

const DeviceFacts kDevice{"wormhole_b0", howard::Frequency(1'000'000'000), 64};

/// Rows are as wide as those of tt-metal, in which kernel sources and attributes take 1.2 KB.
std::string large_ops_csv() {
  std::vector<OpRecord> records(20'000);
  for (std::size_t i = 0; i < records.size(); ++i) {
    OpRecord& record = records[i];
    const SimTime start = SimTime::microseconds(static_cast<std::int64_t>(i) * 20);
    record.run.number = i + 1;
    record.run.kernel = {start, start + SimTime::microseconds(15)};
    record.name = "Matmul";
    record.facts = {.operation = "Matmul",
                    .fidelity = "HiFi2",
                    .attributes = {{"config", std::string(900, 'x')}},
                    .inputs = {{.dimensions = {1, 1, 1024, 1024}, .dtype = "bfloat16"},
                               {.dimensions = {1, 1, 1024, 1024}, .dtype = "bfloat16"}},
                    .outputs = {{.dimensions = {1, 1, 1024, 1024}, .dtype = "bfloat16"}}};
  }
  return ops_csv(records, kDevice);
}

std::vector<TimelineEvent> many_events(std::int64_t count) {
  std::vector<TimelineEvent> events;
  for (std::int64_t i = 0; i < count; ++i) {
    constexpr int kCores = 56;
    const auto core = static_cast<int>(i % kCores);
    const SimTime start = SimTime::nanoseconds(i / kCores * 700 + core);
    events.push_back(
        {.track = {TrackKind::core, howard::Lane::compute, howard::core_index(core % 8, core / 8)},
         .name = "matmul",
         .category = "math",
         .start = start,
         .end = start + SimTime::picoseconds(612'345),
         .program = static_cast<std::uint64_t>(i / kCores + 1)});
  }
  return events;
}

void read_text(benchmark::State& state, LogKind kind, const std::string& text) {
  for (auto _ : state) {
    TextBytes source(text);
    benchmark::DoNotOptimize(read_log(kind, source, "log").runs.size());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(text.size()));
}

void read_ops_csv(benchmark::State& state) { read_text(state, LogKind::ops_csv, large_ops_csv()); }
BENCHMARK(read_ops_csv)->Unit(benchmark::kMillisecond);

void read_device_log(benchmark::State& state) {
  std::vector<OpRecord> records(kMostDeviceLogPrograms);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const SimTime start = SimTime::microseconds(static_cast<std::int64_t>(i) * 20);
    const SimTime end = start + SimTime::microseconds(15);
    records[i].run.number = i + 1;
    records[i].run.kernel = {start, end};
    for (int core = 0; core < 56; ++core)
      records[i].cores.push_back({core % 8, core / 8, end, end, end});
  }
  read_text(state, LogKind::device_log, device_log_csv(records, kDevice));
}
BENCHMARK(read_device_log)->Unit(benchmark::kMillisecond);

void read_chrome_trace(benchmark::State& state) {
  std::vector<TimelineEvent> events = many_events(200'000);
  for (TimelineEvent& event : events) {
    event.track = {TrackKind::sub_device, howard::Lane::none, event.track.index};
    event.category = "kernel";
  }
  const TraceProcess process{.name = "point", .events = events};
  read_text(state, LogKind::chrome_trace, chrome_trace({&process, 1}).json);
}
BENCHMARK(read_chrome_trace)->Unit(benchmark::kMillisecond);

void write_perfetto_trace(benchmark::State& state) {
  const std::vector<TimelineEvent> events = many_events(1'000'000);
  const TraceProcess process{.name = "point", .events = events};
  for (auto _ : state) benchmark::DoNotOptimize(perfetto_trace({&process, 1}).size());
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(events.size()));
}
BENCHMARK(write_perfetto_trace)->Unit(benchmark::kMillisecond);

}  // namespace
