// SPDX-License-Identifier: Apache-2.0
#include "harness/measurement.h"

#include <benchmark/benchmark.h>

#include <array>
#include <exception>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "harness/statistics.h"

namespace howard::harness {
namespace {

/// The first run fills caches and makes lazy kernels; the second one meets what the first has left.
constexpr int kWallWarmup = 2;

/// Runs one iteration and sends its events to `sink`, if there is one.
void run_recorded(Case& point, EventSink* sink) {
  point.finish();
  point.set_trace_sink(sink);
  try {
    point.run();
    point.finish();
  } catch (...) {
    point.set_trace_sink(nullptr);
    throw;
  }
  point.set_trace_sink(nullptr);
}

void time_iterations(benchmark::State& state, std::size_t index, Case& point,
                     const std::function<bool()>& stop, const WallWatch& watch) {
  try {
    for (int i = 1; i < kWallWarmup && !stop(); ++i) point.run();
    if (!stop()) run_recorded(point, watch.warm_up_sink());
    for ([[maybe_unused]] auto iteration : state) {
      if (stop()) {
        state.SkipWithError(kInterrupted.data());
        return;
      }
      const SimTime start = point.now();
      point.run();
      state.SetIterationTime((point.now() - start).seconds());
      watch.iterated(index);
    }
    point.finish();
  } catch (const std::exception& failure) {
    state.SkipWithError(reason_of(failure).c_str());
  }
}

/// Turns Google Benchmark's runs into samples. The name of a benchmark is the index of its case.
class Collector : public benchmark::BenchmarkReporter {
 public:
  explicit Collector(const std::function<void(std::size_t, WallSamples)>& done) : done_(done) {}

  bool ReportContext(const Context& /*context*/) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    // A case is reported twice: first its repetitions, then the library's own aggregates of them.
    if (runs.empty() || runs.front().run_type == Run::RT_Aggregate) return;
    WallSamples samples;
    for (const Run& run : runs) {
      if (run.error_occurred) {
        samples.failure = run.error_message;
      } else {
        samples.seconds.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
      }
    }
    const auto index = parse_integer(runs.front().run_name.function_name);
    HOWARD_CHECK(index.has_value(), "a benchmark is named by the index of its case");
    done_(static_cast<std::size_t>(*index), std::move(samples));
  }

 private:
  const std::function<void(std::size_t, WallSamples)>& done_;
};

/// Interleaving is a global flag of the library, not a property of a benchmark.
void enable_interleaving() {
  std::string program = "howard";
  std::string flag = "--benchmark_enable_random_interleaving=true";
  std::array<char*, 2> arguments{program.data(), flag.data()};
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
}

}  // namespace

SimTime measure_virtual(Case& point, const VirtualTiming& timing) {
  for (int i = 0; i < timing.warmup; ++i) point.run();
  point.finish();
  const SimTime start = point.now();
  for (int i = 0; i < timing.iterations; ++i) point.run();
  point.finish();
  return SimTime::picoseconds((point.now() - start).ps() / timing.iterations);
}

void measure_wall(std::span<Case* const> cases, const WallOptions& options,
                  const std::function<bool()>& stop,
                  const std::function<void(std::size_t, WallSamples)>& done,
                  const WallWatch& watch) {
  enable_interleaving();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Case* const point = cases[i];
    benchmark::RegisterBenchmark(std::to_string(i).c_str(),
                                 [=, &stop, &watch](benchmark::State& state) {
                                   time_iterations(state, i, *point, stop, watch);
                                 })
        ->Repetitions(options.repetitions)
        ->MinTime(options.min_time)
        ->UseManualTime();
  }
  Collector collector(done);
  // An explicit filter keeps BENCHMARK_FILTER in the environment from dropping benchmarks.
  if (!cases.empty()) benchmark::RunSpecifiedBenchmarks(&collector, nullptr, ".");
  benchmark::ClearRegisteredBenchmarks();
}

double recording_cost(Case& point, EventSink& scratch) {
  constexpr int kPairs = 9;
  const auto time = [&](EventSink* sink) {
    const SimTime start = point.now();
    run_recorded(point, sink);
    return (point.now() - start).seconds();
  };
  std::vector<double> ratios;
  for (int i = 0; i < kPairs; ++i) {
    // The order alternates, because an iteration also pays for what the one before left in the
    // caches.
    const bool plain_first = i % 2 == 0;
    const double first = time(plain_first ? nullptr : &scratch);
    const double second = time(plain_first ? &scratch : nullptr);
    ratios.push_back(plain_first ? second / first : first / second);
  }
  return median(ratios).value_or(1) - 1;
}

}  // namespace howard::harness
