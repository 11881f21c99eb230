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

/// Marks a repetition that was cut short or not begun.
constexpr const char* kIncomplete = "incomplete";

/// Runs the iterations that the library asks for, until one fails or `stop` says so; `failure` then
/// tells why. The library compares the iterations of all repetitions and ends the process if they
/// differ, so that the rest of them is counted without being run, each as a long one: it then asks
/// for no more.
void time_iterations(benchmark::State& state, std::size_t index, Case& point,
                     const std::function<bool()>& stop, const WallWatch& watch,
                     std::string& failure) {
  constexpr double kLong = 1e6;
  const auto attempt = [&](const auto& part) {
    if (failure.empty() && stop()) failure = kInterrupted;
    if (!failure.empty()) return;
    try {
      part();
    } catch (const std::exception& thrown) {
      failure = reason_of(thrown);
    }
  };
  for (int i = 1; i < kWallWarmup; ++i) attempt([&] { point.run(); });
  attempt([&] { run_recorded(point, watch.warm_up_sink()); });
  for ([[maybe_unused]] auto iteration : state) {
    double seconds = kLong;
    attempt([&] {
      const SimTime start = point.now();
      point.run();
      seconds = (point.now() - start).seconds();
      watch.iterated(index);
    });
    state.SetIterationTime(seconds);
  }
  attempt([&] { point.finish(); });
  if (!failure.empty()) state.counters[kIncomplete] = 1;
}

/// Turns Google Benchmark's runs into samples. The name of a benchmark is the index of its case.
class Collector : public benchmark::BenchmarkReporter {
 public:
  /// `failures` has the reason of each case that failed, and "" for the others.
  Collector(const std::function<void(std::size_t, WallSamples)>& done,
            const std::vector<std::string>& failures)
      : done_(done), failures_(failures) {}

  bool ReportContext(const Context& /*context*/) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    // A case is reported twice: first its repetitions, then the library's own aggregates of them.
    if (runs.empty() || runs.front().run_type == Run::RT_Aggregate) return;
    const auto index = parse_integer(runs.front().run_name.function_name);
    HOWARD_CHECK(index.has_value(), "a benchmark is named by the index of its case");
    WallSamples samples;
    if (const std::string& failure = failures_.at(static_cast<std::size_t>(*index));
        !failure.empty()) {
      samples.failure = failure;
    }
    for (const Run& run : runs) {
      if (run.counters.contains(kIncomplete)) continue;
      samples.seconds.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
    }
    done_(static_cast<std::size_t>(*index), std::move(samples));
  }

 private:
  const std::function<void(std::size_t, WallSamples)>& done_;
  const std::vector<std::string>& failures_;
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
  std::vector<std::string> failures(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Case* const point = cases[i];
    benchmark::RegisterBenchmark(std::to_string(i).c_str(),
                                 [=, &stop, &watch, &failures](benchmark::State& state) {
                                   time_iterations(state, i, *point, stop, watch, failures[i]);
                                 })
        ->Repetitions(options.repetitions)
        ->MinTime(options.min_time)
        ->UseManualTime();
  }
  Collector collector(done, failures);
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
