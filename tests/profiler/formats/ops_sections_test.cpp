// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "profiler/formats/ops_csv/ops_csv_reader.h"
#include "tests/error_of.h"
#include "tests/profiler/formats/samples.h"

namespace howard::profiler {
namespace {

std::string signpost(std::string_view name) {
  return fmt::format("{},signpost,,,,,,,,,,,,,,,,,,,,,\n", name);
}

std::string op(int call, std::string_view name = "a", std::string_view attributes = "") {
  const int start = 10'000 * call;
  return fmt::format("{},tt_dnn_device,{},0,wormhole_b0,{},,1,,{},{},,2000,1500,,,,,,,,,\n", name,
                     call, attributes, start, start + 2000);
}

Log read(const std::string& rows, const LogRange& range = {}) {
  const std::string text = std::string(kOpsHeader) + rows;
  TextBytes source(text);
  return read_ops_csv(source, "ops.csv", {.range = range});
}

/// "forward:2 backward:1".
std::string sections(const Log& log) {
  std::vector<std::string> words;
  for (const LoggedRun& run : log.runs) {
    for (const ProgramRun& program : run.timeline.programs) {
      words.emplace_back(run.timeline.names.name(program.section));
    }
  }
  return join(words, " ");
}

const std::string kSteps = op(1) + signpost("forward") + op(2) + op(3) + signpost("backward") +
                           op(4) + signpost("optimizer") + op(5);

TEST(OpsSections, ARangeIsFromASignpostUpToAnother) {
  EXPECT_EQ(sections(read(kSteps)), " forward forward backward optimizer");
  EXPECT_EQ(sections(read(kSteps, {.from = "forward", .to = "optimizer"})),
            "forward forward backward");
  EXPECT_EQ(sections(read(kSteps, {.from = "backward", .to = ""})), "backward optimizer");
  EXPECT_EQ(sections(read(kSteps, {.from = "", .to = "backward"})), " forward forward");
  EXPECT_EQ(sections(read(kSteps, {.from = "3", .to = "5"})), "forward backward");
}

TEST(OpsSections, AMissingSignpostIsNamedWithThoseThereAre) {
  const std::string message = error_of([&] { read(kSteps, {.from = "forwrd", .to = ""}); });
  EXPECT_NE(message.find("forward, backward, optimizer"), std::string::npos) << message;
  EXPECT_THROW(read(kSteps, {.from = "optimizer", .to = "forward"}), Error);
  EXPECT_THROW(read(op(1), {.from = "x", .to = ""}), Error);
}

TEST(OpsSections, ARangeWithoutACallNamesTheCallsThereAre) {
  const std::string message = error_of([&] { read(kSteps, {.from = "10", .to = "20"}); });
  EXPECT_NE(message.find("the log has 1 to 5"), std::string::npos) << message;
}

TEST(OpsSections, WarmUpIsLeftOutAndSaid) {
  const std::string rows = signpost("warmup") + op(1) + op(2) + signpost("measured") + op(3);
  const Log log = read(rows);
  EXPECT_EQ(sections(log), "measured");
  ASSERT_EQ(log.notes.size(), 1U) << join(log.notes, "\n");
  EXPECT_NE(join(log.notes, "\n").find("left out 2 of 3 programs as warm-up"), std::string::npos);
  EXPECT_EQ(sections(read(rows, {.with_warmup = true})), "warmup warmup measured");
  EXPECT_EQ(sections(read(op(1) + signpost("compile_done") + op(2))), "compile_done");
  EXPECT_EQ(sections(read(signpost("warmup") + op(1))), "warmup") << "there is nothing else";
}

TEST(OpsSections, BetweenXAndXEndLiesWhatWasMeasured) {
  const std::string rows = op(1) + signpost("DECODE") + op(2) + op(3) + signpost("DECODE_END") +
                           op(4) + signpost("other") + op(5);
  const Log log = read(rows);
  EXPECT_EQ(sections(log), "DECODE DECODE");
  EXPECT_NE(join(log.notes, "\n")
                .find("left out 3 of 5 programs outside of 'DECODE' to "
                      "'DECODE_END'; --all takes them too"),
            std::string::npos)
      << join(log.notes, "\n");
  EXPECT_EQ(sections(read(rows, {.with_warmup = true})), " DECODE DECODE DECODE_END other");
  EXPECT_EQ(sections(read(rows, {.from = "other", .to = ""})), "other");
  EXPECT_EQ(sections(read(op(1) + signpost("start") + op(2) + signpost("stop") + op(3))), "start");
  EXPECT_EQ(sections(read(signpost("compile") + op(1) + signpost("compile_end") + op(2) +
                          signpost("a") + op(3) + signpost("a_end") + op(4) + signpost("b_start") +
                          op(5) + signpost("b_end"))),
            "a b_start")
      << "two pairs, and one of warm-up";
  EXPECT_EQ(sections(read(signpost("a") + op(1) + signpost("b_end") + op(2))), "a b_end")
      << "the end of another thing";
}

TEST(OpsSections, WhatRanBeforeTheRangeHadRunBefore) {
  const auto had_run = [](const Log& log) {
    std::string flags;
    for (const ProgramRun& program : log.runs.at(0).timeline.programs) {
      flags += program.ran_before ? '1' : '0';
    }
    return flags;
  };
  const std::string rows = op(1, "a") + op(2, "b") + signpost("steady") + op(3, "a") + op(4, "c") +
                           signpost("later") + op(5, "b");
  EXPECT_EQ(had_run(read(rows)), "00000") << "nothing is left out";
  EXPECT_EQ(had_run(read(rows, {.from = "steady", .to = ""})), "101");
  EXPECT_EQ(had_run(read(rows, {.from = "3", .to = ""})), "101") << "by calls";
  EXPECT_EQ(had_run(read(rows, {.from = "1", .to = "3"})), "00") << "what follows is not before";
}

TEST(OpsSections, MarksOfTtmlEndPhases) {
  const auto mark = [](int call, std::string_view name) {
    return op(call, "ProfilerNoopOperation", fmt::format("{{'identifier': '{}'}}", name));
  };
  const std::string rows = op(1) + mark(2, "forward_pass_done") + op(3) + op(4) +
                           mark(5, "backward_pass_done") + mark(6, "iteration_1") + op(7);
  EXPECT_EQ(sections(read(rows)),
            "forward_pass forward_pass backward_pass backward_pass backward_pass iteration (after "
            "the last mark)");
}

}  // namespace
}  // namespace howard::profiler
