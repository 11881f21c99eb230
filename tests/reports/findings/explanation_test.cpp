// SPDX-License-Identifier: Apache-2.0
#include "reports/findings/explanation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "reports/tables/terminal_table.h"

namespace howard::reports {
namespace {

using profiler::OpRun;
using profiler::ProgramRun;
using profiler::Span;
using profiler::TimeAccount;
using profiler::Timeline;

SimTime us(std::int64_t count) { return SimTime::microseconds(count); }

/// Returns three iterations of 100 us less a picosecond. `idle` comes before a product that takes
/// the rest, for which arithmetic takes `compute` and data take `dram` at their peaks.
TimeAccount run_of(std::int64_t idle, std::int64_t compute, std::int64_t dram) {
  Timeline timeline;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const SimTime start = us(100) * static_cast<std::int64_t>(i);
    timeline.programs.push_back({.number = i + 1,
                                 .name = timeline.names.id("matmul"),
                                 .kernel = {start + us(idle), start + us(100)},
                                 .dispatch = Span{start, start + us(idle)},
                                 .host_call = Span{start, start}});
  }
  timeline.activities = {{.occupation = profiler::Occupation::finish, .span = {us(1), us(300)}}};
  const auto work = [&](std::uint64_t, OpRun& run) {
    run.flops = Flops(compute);
    run.dram = Bytes(dram);
    run.peak_flops = run.peak_bandwidth = 1e6;
    run.limited_by = "unpack";
  };
  return account_for(timeline, {SimTime(), us(300) + SimTime::picoseconds(2)}, work, 3);
}

/// Returns what such a run would be if an iteration took another time.
TimeAccount taking(SimTime time, TimeAccount run) {
  run.time = time;
  run.iterations = 1;
  return run;
}

std::string text_of(const Explanation& explanation) {
  std::string text;
  for (const Table& table : explanation_tables(explanation)) {
    text += terminal_table(table, {.width = 90});
  }
  return text;
}

Explanation sample() {
  return {.experiment = "mlp_engines",
          .command = "run_experiment explain mlp -a batch=64",
          .parameters = {{"engine", "static"}, {"batch", "64"}},
          .run = run_of(80, 10, 5),
          .tried = {{.what = "trace",
                     .changes = {{"engine", "traced"}},
                     .how = "-a engine=traced",
                     .run = taking(us(40), run_of(20, 5, 2))},
                    {.what = "ETH dispatch",
                     .changes = {{"dispatch", "eth"}},
                     .how = "-a dispatch=eth",
                     .run = taking(us(100), run_of(80, 10, 5))},
                    {.what = "pad batch",
                     .changes = {{"batch", "96"}},
                     .how = "-a batch=96",
                     .candidates = 4,
                     .run = taking(us(110), run_of(80, 10, 5))}},
          .untried = {{"fusing", "it is one op"}}};
}

TEST(Explanation, TheVerdictIsTheLargestPartOfTheTime) {
  EXPECT_EQ(verdict_sentence(run_of(80, 10, 5)),
            "dispatch-bound: for 80 % of 100.0 us the cores wait for the next program, mostly: "
            "dispatch");
  EXPECT_EQ(verdict_sentence(run_of(10, 70, 5)),
            "compute-bound: 70 % of 100.0 us is arithmetic at the peak of all cores");
  EXPECT_EQ(verdict_sentence(run_of(10, 5, 70)),
            "DRAM-bound: 70 % of 100.0 us is data moved at the peak of the DRAM");
  EXPECT_EQ(verdict_sentence(run_of(10, 20, 5)),
            "kernel-inefficient: for 70 % of 100.0 us kernels run longer than arithmetic and DRAM "
            "need, mostly: unpack");
}

TEST(Explanation, CostsOfAnIterationAddUpToItsTimeToThePicosecond) {
  const TimeAccount run = run_of(33, 10, 5);
  SimTime sum;
  for (const profiler::Cost& cost : run.costs_of_iteration()) sum += cost.time;
  EXPECT_EQ(sum, run.time);
}

TEST(Explanation, TheTextSaysWhatHelpsWhatDoesNotAndWhatWasNotTried) {
  const std::string text = text_of(sample());
  EXPECT_TRUE(text.starts_with("dispatch-bound: ")) << text;
  for (const char* const part :
       {"waiting: dispatch", "running: matmul", "1 x; compute 50 %, beyond 50 %; unpack",
        "an iteration", "2.50x  helps", "-a engine=traced", "1.00x  does not help",
        "for those of the same names, in run_experiment explain mlp -a batch=64",
        "pad batch (best of 4)", "0.91x  is slower", "not tried: fusing: it is one op"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Explanation, ANarrowTerminalShowsGainsBesideLongOptions) {
  Explanation explanation = sample();
  explanation.tried[0].how = "-a config=2d:grid=8x7:per_core=16x20:in0_block_w=8:out_block=8x10";
  for (const int width : {60, 80, 100}) {
    const Table table = explanation_tables(explanation).back();
    const std::string text = terminal_table(table, {.width = width});
    for (const char* const part : {"40.00  2.50x  helps", "-a dispatch=eth"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

TEST(Explanation, AnExperimentWithoutChangesIsSaidToHaveNone) {
  Explanation explanation = sample();
  explanation.tried.clear();
  explanation.untried.clear();
  EXPECT_NE(text_of(explanation).find("mlp_engines lists no changes to try"), std::string::npos);
}

TEST(Explanation, ChangesThatDoNotHelpKeepTheirWarningsToThemselves) {
  Explanation explanation = sample();
  explanation.tried[0].run.warnings = {"does not train"};
  explanation.tried[1].run.warnings = {"is another device"};
  const std::string text = text_of(explanation);
  EXPECT_NE(text.find("trace: does not train"), std::string::npos);
  EXPECT_EQ(text.find("another device"), std::string::npos);
}

TEST(Explanation, TheResultHasAPointForEachChangeWithItsGain) {
  const harness::ExperimentResult result = explanation_result(sample(), {});
  EXPECT_EQ(result.experiment, "explain");
  ASSERT_EQ(result.points.size(), 4U);
  const harness::PointResult& base = result.points[0];
  EXPECT_EQ(base.id(), "emulated/explained:mlp_engines/engine:static/batch:64");
  EXPECT_EQ(*base.find_detail("bound_by"), "dispatch");
  EXPECT_EQ(*base.find_detail("not tried: fusing"), "it is one op");
  EXPECT_EQ(base.find_metric("waiting_dispatch")->virtual_time, us(80));
  EXPECT_NEAR(base.find_metric("share_waiting")->value, 0.8, 1e-6);
  const harness::PointResult& trace = result.points[1];
  EXPECT_EQ(trace.id(), "emulated/explained:mlp_engines/engine:traced/batch:64");
  EXPECT_DOUBLE_EQ(trace.find_metric("gain")->value, 2.5);
  EXPECT_EQ(*trace.find_detail("what_if"), "trace");
  EXPECT_EQ(*trace.find_detail("how"), "-a engine=traced");
  EXPECT_EQ(*base.find_detail("command"), "run_experiment explain mlp -a batch=64");
}

TEST(Explanation, ThePictureHasABarForEachRun) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) /
                                       ("howard_explanation_plot_" + std::to_string(::getpid()));
  write_explanation_plot(sample(), {folder});
  const std::string data = read_file(folder / "explain.dat");
  EXPECT_NE(data.find("\n\"as it is\" 80."), std::string::npos) << data;
  EXPECT_NE(data.find("\n\"trace\" 8."), std::string::npos) << data;
  const std::string script = read_file(folder / "explain.gp");
  EXPECT_NE(script.find("set label '2.50x' at screen"), std::string::npos) << script;
  EXPECT_NE(script.find("set label 'mlp_engines, "), std::string::npos) << script;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace howard::reports
