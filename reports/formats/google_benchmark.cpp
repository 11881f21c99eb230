// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/google_benchmark.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json_dump.h"

namespace howard::reports {
namespace {

using harness::ExperimentResult;
using harness::Metric;
using harness::PointResult;
using nlohmann::ordered_json;

constexpr std::string_view kTime = "time";
constexpr double kNanoseconds = 1e9;

ordered_json context_of(const harness::RunContext& context) {
  return {{"executable", "run_experiment"},
          {"num_cpus", context.threads},
          {"cpu", context.cpu},
          {"chip_profile", context.chip.text()},
          {"software_profile", context.software.text()},
          {"howard_version", context.version},
          {"git", context.git},
          {"library_build_type", context.build_type == "Debug" ? "debug" : "release"},
          {"json_schema_version", 1}};
}

/// Returns what all entries of a point have.
ordered_json entry_of(const std::string& name, std::size_t family, std::size_t repetitions,
                      int threads) {
  return {{"name", name},          {"family_index", family},  {"per_family_instance_index", 0},
          {"run_name", name},      {"run_type", "iteration"}, {"repetitions", repetitions},
          {"repetition_index", 0}, {"threads", threads}};
}

void add_time(ordered_json& entry, double seconds) {
  entry["iterations"] = 1;
  entry["real_time"] = seconds * kNanoseconds;
  entry["cpu_time"] = seconds * kNanoseconds;
  entry["time_unit"] = "ns";
}

void add_counters(ordered_json& entry, const PointResult& point) {
  for (const Metric& metric : point.metrics) {
    if (metric.name != kTime) entry[metric.name] = metric.value;
  }
}

void append(ordered_json& benchmarks, const std::string& name, std::size_t family,
            const PointResult& point, const Metric& time, int threads) {
  const std::size_t repetitions = time.samples.empty() ? 1 : time.samples.size();
  ordered_json entry = entry_of(name, family, repetitions, threads);
  for (std::size_t i = 0; i < time.samples.size(); ++i) {
    ordered_json sample = entry;
    sample["repetition_index"] = i;
    add_time(sample, time.samples[i]);
    benchmarks.push_back(std::move(sample));
  }
  if (!time.samples.empty()) {
    entry["name"] = name + "_median";
    entry["run_type"] = "aggregate";
    entry.erase("repetition_index");
    entry["aggregate_name"] = "median";
    entry["aggregate_unit"] = "time";
  }
  add_time(entry, time.value);
  add_counters(entry, point);
  benchmarks.push_back(std::move(entry));
}

}  // namespace

std::string google_benchmark_json(std::span<const ExperimentResult> results) {
  ordered_json document{{"context", ordered_json::object()}, {"benchmarks", ordered_json::array()}};
  if (!results.empty()) document["context"] = context_of(results.front().context);
  std::size_t family = 0;
  for (const ExperimentResult& result : results) {
    for (const PointResult& point : result.points) {
      const std::string name = result.experiment + "/" + point.id();
      const int threads = point.backend == harness::Backend::host ? result.context.threads : 1;
      if (const Metric* const time = point.find_metric(kTime)) {
        append(document["benchmarks"], name, family++, point, *time, threads);
      } else if (point.failed) {
        ordered_json entry = entry_of(name, family++, 1, threads);
        entry["error_occurred"] = true;
        entry["error_message"] = *point.skipped;
        add_time(entry, 0);
        document["benchmarks"].push_back(std::move(entry));
      }
    }
  }
  return json_dump(document, 2) + "\n";
}

}  // namespace howard::reports
