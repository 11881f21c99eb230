// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/inputs.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.h"
#include "harness/tracking/formats/direction.h"
#include "harness/tracking/formats/json_lines.h"
#include "tests/error_of.h"
#include "tests/tracking/made_run.h"

namespace howard::tracking {
namespace {

Run only_run(const std::string& text) {
  const std::vector<tracking::Run> runs = parse_runs(text, "file");
  EXPECT_EQ(runs.size(), 1U);
  return runs.front();
}

std::string error_of(const std::string& text) {
  return howard::error_of([&] { parse_runs(text, "file"); });
}

TEST(Inputs, GoogleBenchmarksRepetitionsAreSamplesAndItsAggregatesAreLeftOut) {
  const tracking::Run run = only_run(R"({"context": {"num_cpus": 8, "library_build_type": "release",
      "caches": [{"type": "Data", "level": 1, "size": 32768, "num_sharing": 2}]},
    "benchmarks": [
    {"name": "BM_a/8", "run_name": "BM_a/8", "run_type": "iteration", "repetition_index": 0,
     "real_time": 3.0, "cpu_time": 9, "time_unit": "us"},
    {"name": "BM_a/8", "run_name": "BM_a/8", "run_type": "iteration", "repetition_index": 1,
     "real_time": 1.0, "cpu_time": 9, "time_unit": "us"},
    {"name": "BM_a/8", "run_name": "BM_a/8", "run_type": "iteration", "repetition_index": 2,
     "real_time": 2.0, "cpu_time": 9, "time_unit": "us", "rate": NaN},
    {"name": "BM_a/8_mean", "run_name": "BM_a/8", "run_type": "aggregate",
     "aggregate_name": "mean", "real_time": 2.0, "cpu_time": 9, "time_unit": "us"},
    {"name": "BM_b NaN", "run_name": "BM_b NaN", "run_type": "iteration", "error_occurred": true,
     "error_message": "no device", "real_time": 0, "cpu_time": 0, "time_unit": "ns"}]})");
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.rows[0].series.benchmark, "BM_a/8");
  EXPECT_DOUBLE_EQ(run.rows[0].value, 2e-6);
  EXPECT_EQ(run.rows[0].samples.size(), 3U);
  EXPECT_EQ(run.rows[0].series.kind, Kind::sampled);
  EXPECT_EQ(run.rows[1].series.benchmark, "BM_b NaN") << "NaN in a text is text";
  EXPECT_EQ(run.rows[1].series.kind, Kind::failed);
  EXPECT_EQ(run.rows[1].words, "no device");
  EXPECT_EQ(run.conditions.machine, "8 CPUs, L1 32 KiB");
}

TEST(Inputs, GoogleBenchmarksCountersAreMetricsWithUnitAndDirection) {
  const tracking::Run run = only_run(R"({
    "context": {"num_cpus": 8, "perf.metric.go.latency": "unit=ns;better=lower;aggregate=min",
                "perf.metric.share": "unit=1;better=higher"},
    "benchmarks": [
    {"name": "a", "run_name": "a", "run_type": "iteration", "repetitions": 2, "iterations": 10,
     "family_index": 0, "threads": 1, "real_time": 3.0, "cpu_time": 9, "time_unit": "us",
     "items_per_second": 4e6, "bytes_per_second": 8e6, "allocs_per_iter": 2.0, "ctx_clock": 1000,
     "label": "x", "go.latency": 50, "share": 0.5, "rate": NaN},
    {"name": "a", "run_name": "a", "run_type": "iteration", "repetitions": 2, "iterations": 10,
     "real_time": 3.0, "cpu_time": 9, "time_unit": "us", "items_per_second": 2e6},
    {"name": "b", "run_type": "iteration", "error_occurred": true, "error_message": "e",
     "real_time": 0, "cpu_time": 0, "time_unit": "ns", "share": 1}]})");
  std::map<std::string, const Row*> rows;
  for (const Row& row : run.rows) rows[row.series.benchmark + " " + row.series.metric] = &row;
  EXPECT_EQ(rows.size(), 7U) << "time, five counters of a, and b that failed";
  const Row& items = *rows.at("a items_per_second");
  EXPECT_DOUBLE_EQ(items.value, 3e6);
  EXPECT_EQ(items.samples.size(), 2U);
  EXPECT_EQ(items.series.unit, "1/s");
  EXPECT_EQ(items.series.better, harness::Better::higher);
  EXPECT_TRUE(items.series.is_judged());
  EXPECT_EQ(rows.at("a bytes_per_second")->series.unit, "B/s");
  EXPECT_EQ(rows.at("a allocs_per_iter")->series.better, harness::Better::lower);
  EXPECT_EQ(rows.at("a go_latency")->series.unit, "ns");
  EXPECT_TRUE(rows.at("a go_latency")->series.is_judged());
  EXPECT_EQ(rows.at("a share")->series.better, harness::Better::higher);
  EXPECT_EQ(rows.at("b ")->series.kind, Kind::failed);
}

TEST(Inputs, GoogleBenchmarksMedianServesIfThereIsNothingElse) {
  const tracking::Run run = only_run(R"({"context": {}, "benchmarks": [
    {"name": "a_median", "run_name": "a", "run_type": "aggregate", "aggregate_name": "median",
     "real_time": 2.0, "time_unit": "ms"},
    {"name": "a_cv", "run_name": "a", "run_type": "aggregate", "aggregate_name": "cv",
     "real_time": 0.1, "time_unit": "ms"}]})");
  ASSERT_EQ(run.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(run.rows[0].value, 2e-3);
}

TEST(Inputs, HyperfinesTimesAreThoseOfACommand) {
  const tracking::Run run = only_run(R"({"results": [
    {"command": "sleep 0.1", "mean": 0.11, "median": 0.1, "times": [0.1, 0.12, 0.11],
     "exit_codes": [0, 0, 0]},
    {"command": "false", "mean": 0.1, "times": [0.1], "exit_codes": [1]}]})");
  EXPECT_DOUBLE_EQ(run.rows[0].value, 0.11);
  EXPECT_EQ(run.rows[1].series.kind, Kind::failed);
  EXPECT_EQ(run.conditions.tool, "hyperfine");
}

TEST(Inputs, HyperfinesRowsOfOneNameDifferByTheirParametersOrTheirPlace) {
  const tracking::Run run = only_run(R"({"results": [
    {"command": "sort", "times": [1.0], "parameters": {"threads": "1"}},
    {"command": "sort", "times": [2.0], "parameters": {"threads": "2"}},
    {"command": "", "mean": 3.0}, {"command": "", "mean": 4.0}]})");
  ASSERT_EQ(run.rows.size(), 4U);
  EXPECT_EQ(run.rows[0].series.benchmark, "sort/threads:1");
  EXPECT_EQ(run.rows[1].series.benchmark, "sort/threads:2");
  EXPECT_EQ(run.rows[2].series.benchmark, "command");
  EXPECT_EQ(run.rows[3].series.benchmark, "command #2");
}

TEST(Inputs, TheDirectionOfAMetricFollowsFromItsUnitOrItsName) {
  using harness::Better;
  for (const char* const name : {"GFLOPS", "Throughput", "items_per_second", "TokensPerSecond",
                                 "frame rate", "hit_rate", "Bandwidth", "speedup", "tokens/s"}) {
    EXPECT_EQ(better_direction(name, ""), Better::higher) << name;
  }
  for (const char* const name : {"allocs_per_iter", "miss_rate", "errorRate", "latency", "bytes",
                                 "hit time", "generate", "GFLOP", "score_loss"}) {
    EXPECT_EQ(better_direction(name, ""), Better::lower) << name;
  }
  for (const char* const unit : {"MB/s", "ops/sec", "1/s", "GFLOPS", "GHz", "fps"}) {
    EXPECT_EQ(better_direction("x", unit), Better::higher) << unit;
  }
  for (const char* const unit : {"ns", "ns/op", "B/op", "allocs/op", "MiB"}) {
    EXPECT_EQ(better_direction("x", unit), Better::lower) << unit;
  }
  EXPECT_EQ(better_direction("throughput test", "ms"), Better::lower) << "the unit says it";
}

TEST(Inputs, PytestBenchmarksRoundsAreSamples) {
  const tracking::Run run = only_run(R"({
    "machine_info": {"node": "ci", "cpu": {"brand_raw": "AMD EPYC", "count": 4}},
    "commit_info": {"id": "cafe01", "dirty": true, "branch": "main"},
    "benchmarks": [
      {"group": null, "name": "test_a", "fullname": "tests/test_x.py::test_a", "params": null,
       "stats": {"min": 1.0, "median": 2.0, "data": [1.0, 2.0, 4.0]}},
      {"name": "test_b", "fullname": "", "stats": {"min": 1.0, "median": 0.5}}],
    "datetime": "2026-01-02T03:04:05", "version": "4.0.0"})");
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.rows[0].series.benchmark, "tests/test_x.py::test_a");
  EXPECT_EQ(run.rows[0].series.unit, "s");
  EXPECT_EQ(run.rows[0].value, 2);
  EXPECT_EQ(run.rows[0].samples.size(), 3U);
  EXPECT_EQ(run.rows[1].series.benchmark, "test_b");
  EXPECT_EQ(run.rows[1].value, 0.5);
  EXPECT_EQ(run.conditions.machine, "AMD EPYC, 4 CPUs");
  EXPECT_EQ(run.commit, "cafe01-dirty");
  EXPECT_EQ(run.date, "2026-01-02T03:04:05");
}

TEST(Inputs, AListOfNamesValuesAndUnitsIsRead) {
  const tracking::Run run = only_run(R"([{"name": "a", "unit": "ms", "value": 3},
    {"name": "b", "unit": "MB/s", "value": "7.5", "range": "± 1"},
    {"name": "c", "value": 0}])");
  ASSERT_EQ(run.rows.size(), 3U);
  EXPECT_EQ(run.rows[0].series.metric, "time");
  EXPECT_DOUBLE_EQ(run.rows[0].value, 3e-3);
  EXPECT_EQ(run.rows[1].series.unit, "MB/s");
  EXPECT_EQ(run.rows[1].series.better, harness::Better::higher);
  EXPECT_EQ(run.rows[1].value, 7.5);
  EXPECT_EQ(run.rows[2].series.metric, "value");
  EXPECT_NE(error_of(R"([{"name": "a", "value": "fast"}])").find("a number"), std::string::npos);
}

TEST(Inputs, CriterionsSamplesAreDividedByTheirIterations) {
  const tracking::Run run =
      only_run(R"({"reason":"benchmark-complete","id":"sum/8","iteration_count":[10,20],)"
               R"("measured_values":[1000,2400],"unit":"ns"})"
               "\n"
               R"({"reason":"group-complete","group_name":"sum","benchmarks":["sum/8"]})");
  ASSERT_EQ(run.rows.size(), 1U);
  EXPECT_EQ(run.rows[0].series.benchmark, "sum/8");
  EXPECT_DOUBLE_EQ(run.rows[0].value, 110e-9);
  const std::string none = error_of(
      R"({"reason":"benchmark-complete","id":"x","iteration_count":[],"measured_values":[],)"
      R"("unit":"ns"})"
      "\n");
  EXPECT_NE(none.find("one at least"), std::string::npos) << none;
  const std::vector<tracking::Run> estimates =
      parse_runs(R"({"mean": {"point_estimate": 9.0}, "median": {"point_estimate": 8.0}})",
                 "target/criterion/sum/new/estimates.json");
  EXPECT_EQ(estimates.front().rows[0].series.benchmark, "sum");
  EXPECT_DOUBLE_EQ(estimates.front().rows[0].value, 8e-9);
}

TEST(Inputs, GosTextHasTimesAndOtherMetricsByRepetition) {
  const tracking::Run run = only_run(
      "goos: linux\ngoarch: amd64\npkg: example.org/x\ncpu: AMD EPYC\n"
      "BenchmarkSum-8   \t     1000\t      1200 ns/op\t 850.5 MB/s\t      16 B/op\n"
      "BenchmarkSum-8   \t     1000\t      1400 ns/op\t 800.5 MB/s\t      16 B/op\n"
      "--- FAIL: BenchmarkBad\nPASS\nok  \texample.org/x\t1.2s\n");
  ASSERT_EQ(run.rows.size(), 4U);
  EXPECT_EQ(run.rows[0].series.benchmark, "example.org/x/BenchmarkSum-8");
  EXPECT_DOUBLE_EQ(run.rows[0].value, 1300e-9);
  EXPECT_EQ(run.rows[0].samples.size(), 2U);
  EXPECT_EQ(run.rows[1].series.unit, "MB/s");
  EXPECT_EQ(run.rows[1].series.better, harness::Better::higher);
  EXPECT_EQ(run.rows[2].series.metric, "B/op");
  EXPECT_EQ(run.rows[2].series.better, harness::Better::lower);
  EXPECT_EQ(run.rows[3].series.kind, Kind::failed);
  EXPECT_EQ(run.conditions.machine, "AMD EPYC");
}

TEST(Inputs, ACopyIsKnownByWhatWasMeasured) {
  const auto google = [](const char* date, const char* time) {
    return only_run(std::string(R"({"context": {"date": ")") + date +
                    R"("}, "benchmarks": [{"name": "a", "time_unit": "us", "real_time": )" + time +
                    "}]}");
  };
  const auto content = [](tracking::Run run, const char* commit) {
    run.commit = commit;
    return content_id(run).substr(0, 16);
  };
  EXPECT_EQ(content(google("d", "3"), "x"), content(google("d", "3"), "y"));
  EXPECT_NE(content(google("d", "3"), "x"), content(google("e", "3"), "x"));
  EXPECT_NE(content(google("d", "3"), "x"), content(google("d", "4"), "x"));
  EXPECT_NE(content_id(google("d", "3")).substr(16), "");
  const auto two = [](const char* first, const char* second) {
    return only_run(std::string(R"({"context": {"date": "d"}, "benchmarks": [)") + first + ", " +
                    second + "]}");
  };
  const char* const a = R"({"name": "a", "time_unit": "us", "real_time": 3})";
  const char* const b = R"({"name": "b", "time_unit": "us", "real_time": 4})";
  EXPECT_EQ(content_id(two(a, b)), content_id(two(b, a))) << "in another order";
  const tracking::Run size = only_run(R"([{"name": "size", "unit": "B", "value": 7}])");
  EXPECT_EQ(content(size, "x"), content(size, "x"));
  EXPECT_NE(content(size, "x"), content(size, "y")) << "the next commit may well be as large";
}

TEST(Inputs, NvbenchsMeanGpuTimeOfEachStateIsTakenAsTextOrNumber) {
  const tracking::Run run = only_run(R"({"meta": {}, "devices": [{"name": "H200"}], "benchmarks": [
    {"name": "copy", "states": [
      {"name": "Device=0 T=I8", "is_skipped": false, "summaries": [
        {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "type": "float64",
         "value": "1.5e-05"}]}]},
      {"name": "Device=0 T=I16", "is_skipped": false, "summaries": [
        {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "value": 2e-5}]}]},
      {"name": "Device=0 T=F64", "is_skipped": true, "skip_reason": "too large",
       "summaries": null}]}]})");
  ASSERT_EQ(run.rows.size(), 3U);
  EXPECT_EQ(run.rows[0].series.benchmark, "copy/Device=0 T=I8");
  EXPECT_DOUBLE_EQ(run.rows[0].value, 1.5e-5);
  EXPECT_DOUBLE_EQ(run.rows[1].value, 2e-5);
  EXPECT_EQ(run.rows[2].series.kind, Kind::skipped);
  EXPECT_EQ(run.conditions.machine, "H200");
}

TEST(Inputs, AnOpsCsvHasARowForEachOpOnEachShape) {
  const tracking::Run run = only_run(
      "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,CORE COUNT,MATH FIDELITY,"
      "DEVICE FW START CYCLE,DEVICE KERNEL DURATION [ns],INPUT_0_W_PAD[LOGICAL],"
      "INPUT_0_Z_PAD[LOGICAL],INPUT_0_Y_PAD[LOGICAL],INPUT_0_X_PAD[LOGICAL],INPUT_0_LAYOUT,"
      "INPUT_0_DATATYPE,INPUT_0_MEMORY\n"
      "Matmul,tt_dnn_device,1,0,64,HiFi2,100,2000,1[1],1[1],32[19],64[64],TILE,BFLOAT16,DRAM\n"
      "Matmul,tt_dnn_device,2,0,64,HiFi2,9000,4000,1[1],1[1],32[19],64[64],TILE,BFLOAT16,DRAM\n"
      "Matmul,tt_dnn_device,3,0,64,HiFi2,20000,9000,1[1],1[1],32[32],64[64],TILE,BFLOAT16,DRAM\n");
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_EQ(run.rows[0].series.benchmark, "Matmul/1x1x19x64:BFLOAT16/cores:64/fidelity:HiFi2");
  EXPECT_DOUBLE_EQ(run.rows[0].value, 3e-6);
  EXPECT_EQ(run.rows[0].samples.size(), 2U);
  EXPECT_EQ(run.conditions.tool, "tt-metal");
}

TEST(Inputs, TimesAndExportsComeBack) {
  const tracking::Run times =
      only_run("howard.times/1\n# chip n300, software s with a=1, seed 7\na b time 12\n");
  EXPECT_EQ(times.rows.front().series.benchmark, "a b");
  EXPECT_EQ(times.rows.front().picoseconds, 12);
  EXPECT_EQ(times.conditions.chip, "n300");
  EXPECT_EQ(times.conditions.software, "s with a=1");
  EXPECT_EQ(times.conditions.seed, 7U);
  tracking::Run run = run_with({exact_row("a", 5)});
  run.id = "0123";
  EXPECT_EQ(parse_runs(run_line(run) + "\n\n" + run_line(run) + "\n", "file").size(), 2U);
}

TEST(Inputs, BadInputIsNamedWithItsPlace) {
  EXPECT_NE(error_of("").find("it is empty"), std::string::npos);
  EXPECT_NE(error_of("words").find("of another kind"), std::string::npos);
  EXPECT_NE(error_of("{\"a\": 1}").find("JSON of another kind"), std::string::npos);
  EXPECT_NE(error_of("{\"benchmarks\": [").find("not JSON"), std::string::npos);
  EXPECT_NE(error_of(R"({"context": {}, "benchmarks": [{"name": "x", "time_unit": "us"}]})")
                .find("/benchmarks/0"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"context": {}, "benchmarks": []})").find("no benchmark"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"benchmarks": [{"name": "b", "states": [{"name": "x"}, {"name": "x"}]}]})")
                .find("b/x is there twice"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"schema": "howard.run/2"})").find("howard.run/1"), std::string::npos);
  EXPECT_NE(error_of(std::string(100'000, '[')).find("file"), std::string::npos);
}

}  // namespace
}  // namespace howard::tracking
