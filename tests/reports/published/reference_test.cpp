// SPDX-License-Identifier: Apache-2.0
#include "reports/published/reference.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard::reports {
namespace {

using harness::Backend;
using harness::ExperimentResult;
using harness::Parameters;
using harness::PointResult;

/// Returns the least of a reference file, with parts to break.
std::string file_with(const std::string& row, const std::string& unit = "s") {
  return R"({"schema": "howard.reference/1", "experiment": "test", "tables": [{
    "title": "t", "source": "s", "true_source": "b",
    "timing": {"timed_region": "r", "sync": "s", "warmup": "w", "iterations": "i", "statistic": "m"},
    "metric": "time", "unit": ")" +
         unit + R"(", "common": {"dim": "512"}, "rows": [
    {"params": {"engine": "static"}, "value": 1, "status": "prediction", "note": ""},)" +
         row + "]}]}";
}

const std::string kGoodRow =
    R"({"params": {"engine": "traced"}, "value": 2e-3, "status": "artefact", "note": "why"})";

std::string error_of(const std::string& text) {
  return howard::error_of([&] { parse_reference_tables("test.json", text); });
}

PointResult sweep_point(const std::string& shape, const std::string& dispatch,
                        Backend backend = Backend::emulated) {
  return {.backend = backend,
          .parameters = {{"shape", shape},
                         {"dispatch", dispatch},
                         {"dtype", "bfloat16"},
                         {"fidelity", "default"},
                         {"grid", "default"},
                         {"sync", "each"}}};
}

PointResult attached(const PointResult& point) {
  ExperimentResult result{.experiment = "matmul_sweep", .points = {point}};
  attach_references(result);
  return result.points.front();
}

/// The experiments with published tables, and how many rows those have.
const std::map<std::string, std::size_t> kRowsOfTheReport{
    {"all_reduce", 6},  {"core_grid", 2},    {"dispatch_gaps", 3},   {"gpt2_full", 2},
    {"gpt2_trace", 6},  {"mlp_engines", 11}, {"gradient_check", 10}, {"matmul_sweep", 15},
    {"shape_sweep", 8}, {"two_queues", 12}};

TEST(Reference, EveryFileLoadsWithAllRowsOfTheReport) {
  for (const auto& [experiment, expected] : kRowsOfTheReport) {
    std::size_t rows = 0;
    for (const ReferenceTable& table : reference_tables(experiment)) rows += table.rows.size();
    EXPECT_EQ(rows, expected) << experiment;
  }
  EXPECT_TRUE(reference_tables("explain").empty()) << "nothing was published";
}

TEST(Reference, EveryArtefactHasItsReason) {
  std::size_t artefacts = 0;
  for (const auto& [experiment, rows] : kRowsOfTheReport) {
    for (const ReferenceTable& table : reference_tables(experiment)) {
      for (const ReferenceRow& row : table.rows) {
        if (row.status != "artefact") continue;
        ++artefacts;
        EXPECT_FALSE(row.note.empty()) << table.title;
      }
    }
  }
  EXPECT_GT(artefacts, 0U);
}

TEST(Reference, TheSweepHasTwelveTimesOfWhichTheWorkerOnesCalibrate) {
  const ReferenceTable table = reference_tables("matmul_sweep").front();
  EXPECT_EQ(table.metric, "time");
  ASSERT_EQ(table.rows.size(), 12U);
  for (const ReferenceRow& row : table.rows) {
    const bool worker = harness::find_parameter(row.parameters, "dispatch") == "worker";
    EXPECT_EQ(row.status, worker ? "calibration" : "prediction");
    EXPECT_EQ(harness::find_parameter(row.parameters, "sync"), "each");
  }
}

TEST(Reference, TheSweepAgreesWithTheReportsOwnTflopsColumns) {
  // The report prints two to four digits, and is up to 0.2 % off its own times.
  const std::map<std::string, std::pair<double, double>> tflops{
      {"128x128x128", {0.047, 0.052}},    {"256x256x256", {0.38, 0.32}},
      {"512x512x512", {2.78, 2.57}},      {"1024x1024x1024", {13.68, 13.42}},
      {"2048x2048x2048", {41.78, 45.69}}, {"4096x4096x4096", {13.14, 69.51}}};
  const ReferenceTable table = reference_tables("matmul_sweep").front();
  for (const ReferenceRow& row : table.rows) {
    const std::string shape(*harness::find_parameter(row.parameters, "shape"));
    const bool worker = harness::find_parameter(row.parameters, "dispatch") == "worker";
    const double n = std::stod(shape);
    const double printed = worker ? tflops.at(shape).first : tflops.at(shape).second;
    EXPECT_NEAR(2 * n * n * n / row.value / 1e12, printed, 0.0005 + 0.011 * printed) << shape;
  }
}

TEST(Reference, AnEmulatedPointGetsItsRow) {
  const PointResult point = attached(sweep_point("4096x4096x4096", "eth"));
  ASSERT_TRUE(point.reference.has_value());
  EXPECT_EQ(point.reference->metric, "time");
  EXPECT_DOUBLE_EQ(point.reference->value, 1974.64e-6);
  EXPECT_EQ(point.reference->unit, "s");
  EXPECT_EQ(point.reference->status, "prediction");
  EXPECT_EQ(point.reference->source, "report, postscript, matmul table");
}

TEST(Reference, TheFirstTableWinsAndALaterOneFillsTheGaps) {
  EXPECT_EQ(attached(sweep_point("1024x1024x1024", "worker")).reference->metric, "time");
  const PointResult utilisation = attached(sweep_point("4032x4032x4032", "worker"));
  EXPECT_EQ(utilisation.reference->metric, "throughput");
  EXPECT_DOUBLE_EQ(utilisation.reference->value, 48.73e12);
}

TEST(Reference, AnotherChipsPointsGetOnlyWhatArithmeticGives) {
  ExperimentResult result{.experiment = "matmul_sweep"};
  result.points = {sweep_point("4096x4096x4096", "eth")};
  result.context.published_chip = false;
  attach_references(result);
  EXPECT_FALSE(result.points[0].reference);
}

TEST(Reference, APointThatChoseItsChipGetsTheRowsOfThatChip) {
  const auto served = [](const std::string& machine) {
    return PointResult{.backend = Backend::emulated,
                       .parameters = {{"model", "llama-3.1-8b"},
                                      {"machine", machine},
                                      {"mode", "performance"},
                                      {"batch", "1"},
                                      {"context", "128"}}};
  };
  ExperimentResult result{.experiment = "inference",
                          .points = {served("n150"), served("p150"), served("p150")}};
  result.points[1].own_chip = {.chip = {"blackhole_p150", {}},
                               .software = {"tt_metal_2025_12_blackhole", {}}};
  attach_references(result);
  ASSERT_TRUE(result.points[0].reference) << "of the run's chip";
  ASSERT_TRUE(result.points[1].reference);
  EXPECT_EQ(result.points[1].reference->value, 33.6);
  EXPECT_FALSE(result.points[2].reference) << "a p150 with Wormhole's chips is nothing published";
}

TEST(Reference, PointsThatWereNotPublishedGetNone) {
  EXPECT_FALSE(attached(sweep_point("4032x4032x4032", "eth")).reference);
  EXPECT_FALSE(attached(sweep_point("1024x1024x1024", "worker", Backend::host)).reference);
  PointResult other_sync = sweep_point("1024x1024x1024", "worker");
  other_sync.parameters.back().second = "end";
  EXPECT_FALSE(attached(other_sync).reference);
  PointResult no_sync = sweep_point("1024x1024x1024", "worker");
  no_sync.parameters.pop_back();
  EXPECT_FALSE(attached(no_sync).reference);
  EXPECT_TRUE(reference_tables("no_such_experiment").empty());
}

TEST(Reference, RowsCarryTheTablesCommonParameters) {
  const ReferenceTable table = parse_reference_tables("test.json", file_with(kGoodRow)).front();
  EXPECT_EQ(table.rows[1].parameters, (Parameters{{"dim", "512"}, {"engine", "traced"}}));
  EXPECT_EQ(table.rows[1].value, 2e-3);
  EXPECT_EQ(table.rows[1].note, "why");
}

TEST(Reference, ABadFileIsAnErrorWithFileAndRow) {
  EXPECT_EQ(error_of(file_with(kGoodRow)), "");
  const std::string attempted = "cannot read published figures from test.json at ";
  EXPECT_EQ(error_of(file_with(R"({"params": {}, "value": 1, "status": "measured", "note": ""})")),
            attempted +
                "/tables/0/rows/1/status: \"measured\"; accepted: \"calibration\", \"prediction\", "
                "\"artefact\"");
  EXPECT_EQ(
      error_of(file_with(R"({"params": {}, "status": "artefact", "note": ""})")),
      attempted +
          "/tables/0/rows/1: {\"params\":{},\"status\":\"artefact\",\"note\":\"\"}; accepted: "
          "an object with \"value\"");
  EXPECT_EQ(
      error_of(file_with(kGoodRow, "ms")),
      attempted +
          "/tables/0/unit: \"ms\"; accepted: \"s\", \"FLOP/s\", \"1/s\", \"1\", \"count\", \"\"");
  for (const std::string bad_row :
       {R"({"params": {}, "value": "fast", "status": "artefact", "note": ""})",
        R"({"params": {}, "value": -1, "status": "artefact", "note": ""})",
        R"({"params": {"batch": 4}, "value": 1, "status": "artefact", "note": ""})",
        R"({"params": [], "value": 1, "status": "artefact", "note": ""})",
        R"({"params": {}, "value": 1, "status": "artefact", "note": 3})", "7"}) {
    EXPECT_NE(error_of(file_with(bad_row)).find("test.json at /tables/0/rows/1"), std::string::npos)
        << bad_row;
  }
}

TEST(Reference, AFileOfAnotherKindIsAnError) {
  for (const std::string text :
       {"", "not JSON", "[]", "7", R"({"schema": "howard.result/1"})",
        R"({"schema": "howard.reference/1", "experiment": "test"})",
        R"({"schema": "howard.reference/1", "experiment": "test", "tables": 7})",
        R"({"schema": "howard.reference/1", "experiment": "other", "tables": []})"}) {
    EXPECT_NE(error_of(text).find("test.json"), std::string::npos) << text;
  }
}

TEST(PublishedValue, OfAnotherMetricIsKnownForATimeAndItsRate) {
  PointResult point = sweep_point("4096x4096x4096", "worker");
  point.metrics = {{.name = "time", .value = 2, .unit = "s"},
                   {.name = "throughput", .value = 30, .unit = "FLOP/s"},
                   {.name = "share_of_peak", .value = 0.5, .unit = "1"}};
  EXPECT_FALSE(published_value(point, "time"));
  point.reference = {{.metric = "time", .value = 4, .unit = "s"}};
  EXPECT_EQ(published_value(point, "time"), 4);
  EXPECT_EQ(published_value(point, "throughput"), 15);  // 60 operations in 4 s
  EXPECT_FALSE(published_value(point, "share_of_peak"));
  EXPECT_FALSE(published_value(point, "nothing"));
  point.reference = {{.metric = "throughput", .value = 15, .unit = "FLOP/s"}};
  EXPECT_EQ(published_value(point, "time"), 4);
}

}  // namespace
}  // namespace howard::reports
