// SPDX-License-Identifier: Apache-2.0
// This measures what recording costs the host engine. Steps with and without a recorder alternate,
// so that a slow moment of the machine affects both alike. It reports the medians of their times
// and of their ratios.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "engines/autograd/optimizers/sgd.h"
#include "engines/autograd/steps/static_step.h"
#include "engines/autograd/steps/training_step.h"
#include "engines/host/host_device.h"
#include "engines/models/gpt2.h"
#include "engines/models/mlp.h"
#include "profiler/event_recorder.h"

namespace {

namespace autograd = howard::autograd;
namespace models = howard::models;
using howard::profiler::EventRecorder;

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The time of an iteration is that of a recorded step. "noise_percent" is the same ratio for steps
/// that are both not recorded, which shows what the machine alone makes of it.
void compare(benchmark::State& state, howard::Device& device, autograd::Step& step) {
  EventRecorder recorder;
  const auto run = [&](howard::EventSink* sink) {
    recorder.clear();
    device.set_trace_sink(sink);
    const double seconds = seconds_of([&] {
      step.run();
      device.command_queue(0).finish();
    });
    device.set_trace_sink(nullptr);
    return seconds;
  };
  for (int i = 0; i < 3; ++i) run(&recorder);
  std::vector<double> without, with, ratios, noise;
  std::size_t events = 0;
  for (auto _ : state) {
    // The order favours neither, because a step also pays for what the one before left in the
    // caches.
    const bool first = ratios.size() % 2 == 0;
    const double before = run(first ? nullptr : &recorder);
    const double after = run(first ? &recorder : nullptr);
    if (first) events = recorder.events().size();
    const double recorded = first ? after : before;
    const double plain = first ? before : after;
    without.push_back(plain);
    with.push_back(recorded);
    ratios.push_back(recorded / plain);
    noise.push_back(run(nullptr) / run(nullptr));
    state.SetIterationTime(recorded);
  }
  const double overhead = median(ratios) - 1;
  state.counters["overhead_percent"] = 100 * overhead;
  state.counters["noise_percent"] = 100 * (median(noise) - 1);
  state.counters["events"] = static_cast<double>(events);
  state.counters["step_ms"] = 1e3 * median(without);
  state.counters["ns_per_event"] =
      1e9 * (median(with) - median(without)) / static_cast<double>(events);
}

template <class Model, class Options, class Loss>
void train(benchmark::State& state, const Options& options, const Loss& loss) {
  howard::host::HostDevice device;
  Model model(device, options);
  model.write_constants(device.command_queue(0));
  autograd::Sgd sgd(model.parameters(), 1e-3F);
  autograd::StaticStep step(
      device,
      autograd::training_step([&](autograd::Tape& tape, int) { return loss(model, tape); }, sgd));
  compare(state, device, step);
}

void recording_gpt2_batch4(benchmark::State& state) {
  train<models::Gpt2>(state, models::Gpt2Options{.batch = 4},
                      [](models::Gpt2& model, autograd::Tape& tape) { return model.loss(tape); });
}

/// Programs of a few microseconds with two events each show the largest share that recording can
/// have.
void recording_mlp_32x32(benchmark::State& state) {
  train<models::Mlp>(state, models::MlpOptions{.batch = 32, .width = 32, .layers = 8},
                     [](models::Mlp& model, autograd::Tape& tape) {
                       return model.loss(tape, models::MlpFunctions::by_layer);
                     });
}

const howard::TimelineEvent kEvent{.name = "matmul", .category = "kernel"};

/// This measures the recorder alone.
void recorder_event(benchmark::State& state) {
  EventRecorder recorder;
  std::size_t kept = 0;
  for (auto _ : state) {
    if (++kept == EventRecorder::kDefaultCapacity) {
      recorder.clear();
      kept = 0;
    }
    recorder.record(kEvent);
  }
}

/// This measures the branch, which is the whole cost if nobody listens.
void null_sink_event(benchmark::State& state) {
  howard::EventSink* sink = nullptr;
  for (auto _ : state) {
    benchmark::DoNotOptimize(sink);
    if (sink != nullptr) sink->record(kEvent);
  }
}

}  // namespace

BENCHMARK(recording_gpt2_batch4)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(9);
BENCHMARK(recording_mlp_32x32)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(5000);
BENCHMARK(recorder_event);
BENCHMARK(null_sink_event);
