// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/google_benchmark.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/reports/sample_result.h"

namespace howard::reports {
namespace {

using nlohmann::json;

json document() {
  const harness::ExperimentResult sample = testing::sample_result();
  return json::parse(google_benchmark_json({&sample, 1}));
}

json find(const std::string& part, const std::string& type = "iteration") {
  const json all = document();
  for (const json& entry : all["benchmarks"]) {
    const bool named = entry["name"].get<std::string>().find(part) != std::string::npos;
    if (named && entry["run_type"] == type) return entry;
  }
  return nullptr;
}

TEST(GoogleBenchmark, AVirtualTimeIsOneIterationInNanoseconds) {
  const json entry = find("emulated/shape:128x128x128");
  EXPECT_EQ(entry["name"], "sample_sweep/" + testing::sample_result().points[0].id());
  EXPECT_EQ(entry["real_time"], 95'000.0);
  EXPECT_EQ(entry["cpu_time"], 95'000.0);
  EXPECT_EQ(entry["time_unit"], "ns");
  EXPECT_EQ(entry["iterations"], 1);
  EXPECT_EQ(entry["throughput"], 44.2e9);
  EXPECT_FALSE(entry.contains("time"));
}

TEST(GoogleBenchmark, ARepeatedMeasurementHasItsSamplesAndTheirMedian) {
  const json median = find("host/", "aggregate");
  EXPECT_EQ(median["aggregate_name"], "median");
  EXPECT_EQ(median["repetitions"], 7);
  const std::string run_name = median["run_name"];
  EXPECT_EQ(median["name"], run_name + "_median");
  int samples = 0;
  const json all = document();
  for (const json& entry : all["benchmarks"]) {
    if (entry["run_name"] != run_name || entry["run_type"] != "iteration") continue;
    EXPECT_EQ(entry["repetition_index"], samples++);
  }
  EXPECT_EQ(samples, 7);
}

TEST(GoogleBenchmark, AFailedPointIsAnErrorAndOneThatDoesNotApplyIsLeftOut) {
  int failed = 0;
  for (const harness::PointResult& point : testing::sample_result().points) {
    const json entry = find(point.id());
    if (!point.skipped) continue;
    if (point.failed) {
      ++failed;
      EXPECT_TRUE(entry["error_occurred"].get<bool>());
      EXPECT_EQ(entry["error_message"], *point.skipped);
    } else {
      EXPECT_TRUE(entry.is_null()) << point.id();
    }
  }
  EXPECT_EQ(failed, 1);
}

TEST(GoogleBenchmark, TheContextSaysWhatRan) {
  const json context = document()["context"];
  EXPECT_EQ(context["json_schema_version"], 1);
  EXPECT_EQ(context["chip_profile"], testing::sample_result().context.chip.profile);
}

}  // namespace
}  // namespace howard::reports
