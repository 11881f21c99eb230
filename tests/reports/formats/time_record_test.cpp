// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/time_record.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "tests/error_of.h"
#include "tests/reports/sample_result.h"

namespace howard::reports {
namespace {

constexpr auto ps = &SimTime::picoseconds;

TimeRecord record(std::vector<ExactTime> exact) {
  return {.conditions = {"chip c, software s, seed 1"}, .exact = std::move(exact)};
}

std::string error_of(const std::string& text) {
  return howard::error_of([&] { parse_times_text(text, "old.txt"); });
}

TEST(TimeRecord, HoldsExactTimesAndWhatTheyDependOn) {
  const harness::ExperimentResult sample = testing::sample_result();
  const TimeRecord found = time_record({&sample, 1});
  ASSERT_FALSE(found.exact.empty());
  EXPECT_EQ(found.exact[0].point, sample.experiment + "/" + sample.points[0].id());
  EXPECT_EQ(found.exact[0].metric, "time");
  EXPECT_EQ(found.exact[0].time, ps(95'000'001));
  ASSERT_EQ(found.conditions.size(), 1U);
  EXPECT_NE(found.conditions[0].find(sample.context.chip.profile), std::string::npos);
}

TEST(TimeRecord, NamesTheChipThatAPointChose) {
  harness::ExperimentResult sample = testing::sample_result();
  sample.points[1].own_chip = {.chip = {"blackhole_p150", {}}, .software = {"other", {}}};
  const TimeRecord found = time_record({&sample, 1});
  ASSERT_EQ(found.conditions.size(), 2U);
  EXPECT_TRUE(found.conditions[1].starts_with("chip blackhole_p150, software other, seed "));
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

TEST(TimeRecord, TheTextKeepsEveryExactTime) {
  TimeRecord written = record({{"e/emulated/shape:a b", "time", ps(1)}, {"e/x", "kernel", ps(22)}});
  written.conditions.emplace_back("chip d, software s, seed 2");
  const TimeRecord read = parse_times_text(times_text(written), "x");
  EXPECT_EQ(read.conditions, written.conditions);
  ASSERT_EQ(read.exact.size(), 2U);
  EXPECT_EQ(read.exact[0].point, "e/emulated/shape:a b");
  EXPECT_EQ(read.exact[1].metric, "kernel");
  EXPECT_EQ(read.exact[1].time, ps(22));
  EXPECT_EQ(times_text(read), times_text(written));
}

TEST(TimeRecord, ABadLineIsNamedWithItsNumberAndValue) {
  EXPECT_EQ(error_of("howard.times/1\n# c\ne/p time 5\n"), "");
  EXPECT_EQ(error_of("howard.times/1\n# c\ne/p time 5 us\n"),
            "cannot read old.txt, line 3: 'e/p time 5 us'; accepted: POINT METRIC PICOSECONDS; "
            "try a file written by --times");
  for (const std::string line : {"e/p time", "e/p time -1", "time 5", "x", " a 5", "a b 1.5"}) {
    EXPECT_NE(error_of("howard.times/1\n" + line).find("line 2: '" + line + "'"), std::string::npos)
        << line;
  }
  EXPECT_NE(error_of("howard.times/2\ne/p time 5\n").find("does not begin with howard.times/1"),
            std::string::npos);
}

TEST(TimeRecord, APointThatIsThereTwiceIsAnError) {
  EXPECT_NE(error_of("howard.times/1\ne/p time 5\ne/p time 6\n").find("twice"), std::string::npos);
  const std::vector<harness::ExperimentResult> twice(2, testing::sample_result());
  EXPECT_THROW(time_record(twice), Error);
}

}  // namespace
}  // namespace howard::reports
