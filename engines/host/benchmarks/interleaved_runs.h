// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace howard::benchmarks {

/// Initialises Google Benchmark for `repetitions` of `seconds` each, in random order among all
/// benchmarks and with aggregates only; the arguments can override that. On a machine that others
/// use too, only interleaved runs can be compared. Returns false, with a message, for an unknown
/// argument.
inline bool interleave_runs(int argc, char** argv, int repetitions, const std::string& seconds) {
  std::vector<std::string> defaults{"--benchmark_enable_random_interleaving=true",
                                    "--benchmark_repetitions=" + std::to_string(repetitions),
                                    "--benchmark_min_time=" + seconds,
                                    "--benchmark_report_aggregates_only=true"};
  std::vector<char*> arguments(argv, argv + 1);
  for (std::string& argument : defaults) arguments.push_back(argument.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  return !benchmark::ReportUnrecognizedArguments(count, arguments.data());
}

}  // namespace howard::benchmarks
