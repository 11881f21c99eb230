// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/comparison.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "reports/formats/result_json.h"
#include "reports/formats/time_record.h"
#include "reports/tables/terminal_table.h"
#include "tests/reports/sample_result.h"

namespace howard::reports {
namespace {

constexpr auto ps = &SimTime::picoseconds;

TimeRecord record(std::vector<ExactTime> exact) {
  return {.conditions = {"chip c, software s, seed 1"}, .exact = std::move(exact)};
}

std::string error_of(const std::string& text) {
  try {
    parse_time_record(text, "old.txt");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TimeRecord, HoldsExactTimesRepeatedMeasurementsAndWhyOthersHaveNone) {
  const harness::ExperimentResult sample = testing::sample_result();
  const TimeRecord found = time_record({&sample, 1});
  ASSERT_FALSE(found.exact.empty());
  EXPECT_EQ(found.exact[0].point, sample.experiment + "/" + sample.points[0].id());
  EXPECT_EQ(found.exact[0].metric, "time");
  EXPECT_EQ(found.exact[0].time, ps(95'000'001));
  ASSERT_EQ(found.sampled.size(), 2U) << "time and what follows from it";
  EXPECT_EQ(found.sampled[0].metric.samples.size(), 7U);
  EXPECT_EQ(found.skipped.size(), 2U);
  ASSERT_EQ(found.conditions.size(), 1U);
  EXPECT_NE(found.conditions[0].find(sample.context.chip_profile), std::string::npos);
}

TEST(TimeRecord, PartsOfATimeAreLeftToTheirSum) {
  harness::ExperimentResult sample = testing::sample_result();
  const std::size_t before = time_record({&sample, 1}).exact.size();
  sample.points[0].metrics.push_back(
      {.name = "kernel_time.matmul", .value = 1e-6, .unit = "s", .virtual_time = ps(1'000'000)});
  EXPECT_EQ(time_record({&sample, 1}).exact.size(), before);
  sample.points[0].metrics.back().name = "kernel_time";
  EXPECT_EQ(time_record({&sample, 1}).exact.size(), before + 1);
}

TEST(TimeRecord, ALossThatDiffersIsNoTimeThatMoved) {
  const auto with_loss = [](double loss) {
    harness::ExperimentResult sample = testing::sample_result();
    sample.points[0].metrics.push_back({.name = "loss", .value = loss, .unit = ""});
    return time_record({&sample, 1});
  };
  const Comparison found = compare(with_loss(0.1), with_loss(0.2));
  EXPECT_TRUE(found.moved.empty() && found.missing.empty() && found.added.empty());
  for (const SampledPair& pair : found.sampled) EXPECT_NE(pair.before.name, "loss");
}

TEST(TimeRecord, TheTextKeepsEveryExactTime) {
  TimeRecord written = record({{"e/emulated/shape:a b", "time", ps(1)}, {"e/x", "kernel", ps(22)}});
  written.conditions.emplace_back("chip d, software s, seed 2");
  const TimeRecord read = parse_time_record(times_text(written), "x");
  EXPECT_EQ(read.conditions, written.conditions);
  ASSERT_EQ(read.exact.size(), 2U);
  EXPECT_EQ(read.exact[0].point, "e/emulated/shape:a b");
  EXPECT_EQ(read.exact[1].metric, "kernel");
  EXPECT_EQ(read.exact[1].time, ps(22));
  EXPECT_EQ(times_text(read), times_text(written));
}

TEST(TimeRecord, ResultsAndTheTextMadeOfThemSayTheSame) {
  const harness::ExperimentResult sample = testing::sample_result();
  const TimeRecord from_json = parse_time_record(result_json({&sample, 1}), "x");
  const TimeRecord from_text = parse_time_record(times_text(from_json), "x");
  const Comparison found = compare(from_json, from_text);
  EXPECT_EQ(found.unchanged, from_json.exact.size());
  EXPECT_TRUE(found.moved.empty() && found.missing.empty() && found.added.empty());
  EXPECT_TRUE(found.warnings.empty());
}

TEST(TimeRecord, ABadLineIsNamedWithItsNumberAndValue) {
  EXPECT_EQ(error_of("howard.times/1\n# c\ne/p time 5\n"), "no error");
  EXPECT_EQ(error_of("howard.times/1\n# c\ne/p time 5 us\n"),
            "cannot read old.txt, line 3: 'e/p time 5 us'; accepted: POINT METRIC PICOSECONDS; "
            "try a file written by --times");
  for (const std::string line : {"e/p time", "e/p time -1", "time 5", "x", " a 5", "a b 1.5"}) {
    EXPECT_NE(error_of("howard.times/1\n" + line).find("line 2: '" + line + "'"), std::string::npos)
        << line;
  }
  EXPECT_NE(error_of("howard.times/2\ne/p time 5\n").find("howard.result/1"), std::string::npos);
}

TEST(TimeRecord, APointThatIsThereTwiceIsAnError) {
  EXPECT_NE(error_of("howard.times/1\ne/p time 5\ne/p time 6\n").find("twice"), std::string::npos);
  const std::vector<harness::ExperimentResult> twice(2, testing::sample_result());
  EXPECT_THROW(time_record(twice), Error);
}

TEST(Comparison, SortsWhatMovedByHowFarAndCountsTheRest) {
  const Comparison found =
      compare(record({{"a", "time", ps(100)}, {"b", "time", ps(100)}, {"c", "time", ps(100)}}),
              record({{"c", "time", ps(40)}, {"b", "time", ps(100)}, {"a", "time", ps(101)}}));
  EXPECT_EQ(found.unchanged, 1U);
  ASSERT_EQ(found.moved.size(), 2U);
  EXPECT_EQ(found.moved[0].point, "c");
  EXPECT_DOUBLE_EQ(found.moved[0].ratio().value(), 0.4);
  EXPECT_EQ(found.moved[1].point, "a");
  EXPECT_FALSE(found.moved[0].is_slower(0)) << "less time is no regression";
  EXPECT_TRUE(found.moved[1].is_slower(0)) << "one picosecond";
  EXPECT_TRUE(found.moved[1].is_slower(0.009));
  EXPECT_FALSE(found.moved[1].is_slower(0.01));
}

TEST(Comparison, AnotherMetricOfAPointIsAnotherTime) {
  const Comparison found =
      compare(record({{"a", "time", ps(1)}}), record({{"a", "kernel", ps(1)}}));
  ASSERT_EQ(found.missing.size(), 1U);
  EXPECT_EQ(found.missing[0].metric, "time");
  ASSERT_EQ(found.added.size(), 1U);
  EXPECT_EQ(found.added[0].metric, "kernel");
}

TEST(Comparison, AMissingPointSaysWhyItWasSkipped) {
  TimeRecord after = record({});
  after.skipped.push_back({"a", "no room in DRAM"});
  const Comparison found = compare(record({{"a", "time", ps(1)}}), after);
  ASSERT_EQ(found.missing.size(), 1U);
  EXPECT_EQ(found.missing[0].reason, "no room in DRAM");
}

TEST(Comparison, AZeroIsNoDivisor) {
  const Comparison found = compare(record({{"a", "time", ps(0)}}), record({{"a", "time", ps(5)}}));
  ASSERT_EQ(found.moved.size(), 1U);
  EXPECT_FALSE(found.moved[0].ratio().has_value());
  EXPECT_TRUE(found.moved[0].is_slower(10));
}

TEST(Comparison, OtherProfilesOrSeedsAreWarnedOf) {
  TimeRecord other = record({});
  EXPECT_TRUE(compare(record({}), other).warnings.empty());
  other.conditions = {"chip c, software s, seed 2"};
  ASSERT_EQ(compare(record({}), other).warnings.size(), 1U);
  EXPECT_NE(compare(record({}), other).warnings[0].find("seed 2"), std::string::npos);
}

TEST(Comparison, RepeatedMeasurementsAreShownWithTheirIntervals) {
  const harness::ExperimentResult sample = testing::sample_result();
  harness::ExperimentResult slower = sample;
  for (harness::Metric& metric : slower.points[4].metrics) metric.value *= 3;
  const Comparison found = compare(time_record({&sample, 1}), time_record({&slower, 1}));
  EXPECT_TRUE(found.moved.empty()) << "they decide nothing";
  const std::vector<Table> tables = comparison_tables(found);
  ASSERT_EQ(tables.size(), 1U);
  const std::string text = terminal_table(tables[0], {});
  EXPECT_NE(text.find("decide nothing"), std::string::npos) << text;
  EXPECT_NE(text.find(" 3 "), std::string::npos) << text;
  EXPECT_NE(text.find("["), std::string::npos) << text;
}

TEST(Comparison, EachKindOfDifferenceHasItsTable) {
  const Comparison found = compare(record({{"a", "time", ps(100)}, {"gone", "time", ps(7)}}),
                                   record({{"a", "time", ps(150)}, {"fresh", "time", ps(8)}}));
  std::string text;
  for (const Table& table : comparison_tables(found)) text += terminal_table(table, {});
  for (const char* const part : {"moved", "100", "150", "1.5", "missing", "gone", "new", "fresh"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_TRUE(comparison_tables(compare(record({}), record({}))).empty());
}

}  // namespace
}  // namespace howard::reports
