// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiments/questions/explain_question.h"
#include "tests/error_of.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::AxisOverride;
using harness::Experiment;
using harness::Parameters;
using profiler::Pace;
using profiler::Verdict;
using reports::Explanation;
using reports::TriedChange;

const std::shared_ptr<const DevBox>& box() {
  static const auto shared = built_in_box();
  return shared;
}

/// Returns every axis of the emulator that is set, at its first value or the given one.
Parameters point_of(const Experiment& experiment, const Parameters& given) {
  Parameters point;
  for (const harness::Axis& axis : experiment.axes(harness::Backend::emulated)) {
    const auto value = harness::find_parameter(given, axis.name);
    if (!value && axis.values.empty()) continue;
    point.emplace_back(axis.name, value ? std::string(*value) : axis.values.front());
  }
  return point;
}

Explanation explained(const Experiment& experiment, const Parameters& given) {
  return explain(*box(), experiment, point_of(experiment, given));
}

/// Returns null if it was not tried.
const TriedChange* find_change(const Explanation& explanation, const std::string& what) {
  for (const TriedChange& change : explanation.tried) {
    if (change.what == what) return &change;
  }
  return nullptr;
}

double gain(const Explanation& explanation, const std::string& what) {
  const TriedChange* const change = find_change(explanation, what);
  return change == nullptr ? 0 : explanation.gain(*change);
}

std::optional<std::string> reason_of(const Explanation& explanation, const std::string& what) {
  for (const auto& [name, reason] : explanation.untried) {
    if (name == what) return reason;
  }
  return std::nullopt;
}

/// Returns what the experiment itself gives for the point of a change.
SimTime run_alone(const Experiment& experiment, const Explanation& explanation,
                  const Parameters& changes) {
  std::vector<AxisOverride> overrides;
  for (const auto& [axis, value] : harness::changed(explanation.parameters, changes)) {
    overrides.push_back({axis, {value}});
  }
  const auto points = run_emulated(experiment, overrides);
  HOWARD_CHECK(points.size() == 1 && !points[0].skipped, "one point that runs");
  return *points[0].find_metric("time")->virtual_time;
}

struct Subject {
  std::unique_ptr<Experiment> experiment;
  Parameters given;
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  all.push_back({make_experiment("matmul_sweep", box()), {{"shape", "1024x512x512"}}});
  all.push_back({make_experiment("mlp_engines", box()), {{"engine", "dynamic"}}});
  all.push_back(
      {make_experiment("mlp_engines", box()), {{"engine", "static"}, {"variant", "corrected"}}});
  all.push_back(
      {make_experiment("shape_sweep", box()), {{"engine", "traced"}, {"variant", "corrected"}}});
  all.push_back({make_experiment("gpt2_trace", box()), {{"variant", "corrected"}}});
  all.push_back({make_experiment("two_queues", box()), {}});
  all.push_back({make_experiment("core_grid", box()), {{"trace", "no"}}});
  all.push_back({make_experiment("dispatch_cores", box()), {{"workload", "mlp"}, {"size", "384"}}});
  all.push_back({make_experiment("op_list", box()), {}});
  return all;
}

TEST(Explain, EachFigureIsThatOfRunningThePointItself) {
  for (const Subject& subject : subjects()) {
    const Explanation explanation = explained(*subject.experiment, subject.given);
    EXPECT_EQ(explanation.run.time, run_alone(*subject.experiment, explanation, {}));
    EXPECT_FALSE(explanation.tried.empty()) << subject.experiment->name();
    for (const TriedChange& change : explanation.tried) {
      EXPECT_EQ(change.run.time, run_alone(*subject.experiment, explanation, change.changes))
          << subject.experiment->name() << ": " << change.what;
    }
  }
}

/// Reads "run_experiment explain WHAT -a AXIS=VALUE" as a question. An axis that comes again
/// replaces what was said before.
ExplainQuestion question_of(const std::string& command) {
  std::istringstream words(command);
  std::string program, verb, word;
  words >> program >> verb;
  EXPECT_EQ(program + " " + verb, "run_experiment explain");
  ExplainQuestion question;
  while (words >> word && word != "--set") {
    if (word != "-a") {
      question.what = word;
      continue;
    }
    words >> word;
    const std::string axis = word.substr(0, word.find('=') + 1);
    std::erase_if(question.axes, [&](const std::string& one) { return one.starts_with(axis); });
    question.axes.push_back(word);
  }
  return question;
}

TEST(Explain, EachHowGivesTheFigureBesideItToThePicosecond) {
  const auto time_of = [](const ExplainQuestion& question, const ExperimentList& list) {
    PlannedExperiment planned = plan_explanation(question, list);
    planned.points.resize(1);
    return *run_points(*planned.experiment, planned.points)[0].find_metric("time")->virtual_time;
  };
  struct Asked {
    std::string what;
    std::vector<std::string> settings = {};
  };
  for (const auto& [what, settings] :
       std::vector<Asked>{{"-a m=1024 -a k=96 -a n=64"},
                          {"matmul -a shape=256 -a dispatch=eth"},
                          {"mlp -a batch=64 -a dim=64"},
                          {"mlp -a batch=64 -a dim=64 -a engine=static"},
                          {"gpt2 -a batch=2 -a dim=64 -a layers=1"},
                          {"ops -a ops=64x64/linear:64/gelu"},
                          {"matmul_sweep -a shape=64", {"host.op_call=5 us"}},
                          {"mlp_engines -a batch=64 -a dim=64"},
                          {"mlp_engines -a batch=64 -a dim=64 -a variant=corrected"},
                          {"shape_sweep -a batch=64"},
                          {"mlp_depth -a layers=1 -a dim=64"},
                          {"gpt2_full -a layers=1 -a batch=2"},
                          {"gpt2_trace -a layers=1 -a batch=2 -a dim=64"},
                          {"core_grid"},
                          {"two_queues"},
                          {"two_queues -a layout=half_2cq"},
                          {"dispatch_cores"},
                          {"op_list"}}) {
    ExplainQuestion question = question_of("run_experiment explain " + what);
    question.profiles.settings = settings;
    const auto own_box = std::make_shared<const DevBox>(chip::load_constants(question.profiles),
                                                        host::HostOptions{}, 1);
    const ExperimentList list = all_experiments(own_box);
    const Explanation found = answer(*own_box, question, plan_explanation(question, list));
    EXPECT_EQ(found.command.find("--set") != std::string::npos, !settings.empty());
    EXPECT_EQ(time_of(question_of(found.command), list), found.run.time) << found.command;
    EXPECT_FALSE(found.tried.empty()) << what;
    for (const TriedChange& change : found.tried) {
      EXPECT_NE(change.how, "") << what;
      const std::string command =
          found.command.substr(0, found.command.find(" --set")) + " " + change.how;
      EXPECT_EQ(time_of(question_of(command), list), change.run.time) << command;
    }
  }
}

TEST(Explain, CostsAddUpToTheTime) {
  for (const Subject& subject : subjects()) {
    const Explanation explanation = explained(*subject.experiment, subject.given);
    std::vector<const profiler::TimeAccount*> runs{&explanation.run};
    for (const TriedChange& change : explanation.tried) runs.push_back(&change.run);
    for (const profiler::TimeAccount* const run : runs) {
      SimTime sum;
      for (const profiler::Cost& cost : run->costs_of_iteration()) sum += cost.time;
      EXPECT_EQ(sum, run->time) << subject.experiment->name();
      EXPECT_EQ(run->bottlenecks.all.time(), run->window.duration());
    }
  }
}

TEST(Explain, OnlyTheProgramsOfTheTimedIterationsCount) {
  const auto experiment = make_experiment("mlp_engines", box());
  const Explanation step = explained(*experiment, {{"engine", "static"}});
  std::uint64_t programs = 0;
  for (const profiler::Cost& cost : step.run.costs) programs += cost.programs;
  constexpr std::uint64_t kLaunches = 25;
  EXPECT_EQ(programs, kLaunches * static_cast<std::uint64_t>(step.run.iterations));
  EXPECT_EQ(step.run.iterations, experiment->timing().iterations);
}

TEST(Explain, ATinyProductWaitsForDispatchAndALargeOneDoesNot) {
  const auto experiment = make_experiment("matmul_sweep", box());
  const Explanation tiny = explained(*experiment, {{"shape", "32x32x32"}});
  EXPECT_EQ(tiny.run.verdict(), Verdict::dispatch_bound);
  EXPECT_GT(gain(tiny, "no finish after each"), 1.5);
  EXPECT_GT(gain(tiny, "trace"), 1.2);
  const Explanation large = explained(*experiment, {{"shape", "4096x4096x4096"}});
  EXPECT_NE(large.run.verdict(), Verdict::dispatch_bound);
  EXPECT_LT(gain(large, "trace"), 1.02);
  EXPECT_GT(gain(large, "ETH dispatch"), 4) << "128 rows of tiles do not divide by 7";
  EXPECT_GT(gain(large, "pad M"), 4) << "134 do not either, but are 20 a core, not 19, a prime";
}

TEST(Explain, SaysTheSameBoundAsTheExperimentsTable) {
  const auto expect_same = [](const harness::Experiment& experiment,
                              const std::vector<AxisOverride>& overrides,
                              const Parameters& parameters) {
    const auto points = run_emulated(experiment, overrides);
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(explained(experiment, parameters).run.bound(), *points[0].find_detail("bound_by"));
  };
  for (const char* shape : {"32x32x32", "4096x4096x4096"}) {
    expect_same(*make_experiment("matmul_sweep", box()),
                {{"shape", {shape}}, {"dispatch", {"worker"}}},
                {{"shape", shape}, {"dispatch", "worker"}});
  }
  for (const char* engine : {"dynamic", "traced"}) {
    expect_same(*make_experiment("mlp_engines", box()),
                {{"engine", {engine}}, {"variant", {"corrected"}}, {"dispatch", {"eth"}}},
                {{"engine", engine}, {"variant", "corrected"}, {"dispatch", "eth"}});
  }
}

TEST(Explain, ADramBoundOpIsSaidToBeOne) {
  const Explanation sum = explained(*make_experiment("op_list", box()),
                                    {{"ops", "4096x4096/add"}, {"engine", "traced"}});
  EXPECT_EQ(sum.run.verdict(), Verdict::dram_bound);
}

TEST(Explain, ATraceHelpsWhereTheHostSetsThePaceAndNotALargeModel) {
  const Explanation mlp = explained(*make_experiment("mlp_engines", box()),
                                    {{"engine", "static"}, {"variant", "corrected"}});
  EXPECT_EQ(mlp.run.pace(), Pace::host);
  EXPECT_EQ(mlp.run.verdict(), Verdict::dispatch_bound);
  EXPECT_GT(gain(mlp, "trace"), 1.03);
  EXPECT_LT(gain(mlp, "another core grid"), 1.02) << "faster kernels wait for the host";

  const Explanation gpt2 =
      explained(*make_experiment("gpt2_trace", box()),
                {{"engine", "static"}, {"variant", "corrected"}, {"layers", "6"}});
  EXPECT_NE(gpt2.run.verdict(), Verdict::dispatch_bound);
  EXPECT_LT(gain(gpt2, "trace"), 1.02);
}

TEST(Explain, WhatIsSoAlreadyIsNotTriedAndSaidSo) {
  const Explanation replay = explained(
      *make_experiment("mlp_engines", box()),
      {{"engine", "traced"}, {"variant", "corrected"}, {"dispatch", "eth"}, {"fused", "yes"}});
  EXPECT_EQ(reason_of(replay, "trace"), "it is a replay already");
  EXPECT_EQ(reason_of(replay, "ETH dispatch"), "it is dispatched so already");
  EXPECT_EQ(reason_of(replay, "fusing"), "its functions are fused already");
  EXPECT_TRUE(reason_of(replay, "in-place outputs").has_value());
  const Explanation dynamic =
      explained(*make_experiment("mlp_engines", box()), {{"engine", "dynamic"}});
  EXPECT_TRUE(reason_of(dynamic, "two queues, at best").has_value());
  EXPECT_GT(gain(dynamic, "in-place outputs"), 1.1);
}

TEST(Explain, ARunOfMoreEventsThanAreRecordedIsRefusedAndNotHalfExplained) {
  const auto experiment = make_experiment("mlp_engines", box());
  const ErrorText refusal = error_parts_of([&] {
    explained(*experiment,
              {{"engine", "static"}, {"batch", "32"}, {"dim", "32"}, {"layers", "200"}});
  });
  EXPECT_NE(refusal.value.find("more than are recorded"), std::string::npos);
}

TEST(Explain, ChangesAreInTheOrderOfTheirTimes) {
  const Explanation explanation =
      explained(*make_experiment("matmul_sweep", box()), {{"shape", "2048x2048x2048"}});
  ASSERT_GE(explanation.tried.size(), 3U);
  for (std::size_t i = 1; i < explanation.tried.size(); ++i) {
    EXPECT_LE(explanation.tried[i - 1].run.time, explanation.tried[i].run.time);
  }
}

TEST(Explain, APointThatCanNotRunIsAnErrorWithItsReason) {
  const auto experiment = make_experiment("mlp_engines", box());
  EXPECT_THROW(explained(*experiment, {{"engine", "torch"}}), Error);
  EXPECT_THROW(
      explained(*experiment, {{"engine", "static"}, {"batch", "1000000"}, {"dim", "100000"}}),
      Error);
}

TEST(TwoQueuesOfAProduct, HalvesOfItsRowsTakeAsLongAsTwoProductsSideBySide) {
  const auto pair = run_emulated(*make_experiment("two_queues", box()),
                                 {{"shape", {"1024x1024x1024"}}, {"layout", {"parallel_2cq"}}});
  const auto halves =
      run_emulated(*make_experiment("matmul_sweep", box()), {{"shape", {"2048x1024x1024"}},
                                                             {"dispatch", {"worker"}},
                                                             {"sync", {"end"}},
                                                             {"grid", {"4x7"}},
                                                             {"queues", {"2"}}});
  const double two = pair[0].find_metric("time")->value;
  EXPECT_NEAR(halves[0].find_metric("time")->value / two, 1, 0.01);
  EXPECT_NEAR(halves[0].find_metric("throughput")->value * two, 2 * 2.0 * 1024 * 1024 * 1024,
              0.02 * 4 * 1024 * 1024 * 1024);
}

TEST(TwoQueuesOfAProduct, OneRowOfTilesCanNotBeShared) {
  const auto narrow = run_emulated(*make_experiment("matmul_sweep", box()),
                                   {{"shape", {"32x64x64"}}, {"queues", {"2"}}});
  EXPECT_NE(narrow[0].skipped->find("accepted: more than 32 rows"), std::string::npos);
}

TEST(TwoQueuesOfAStep, HalvesGainOnlyWhereTheHostDoesNotSetThePace) {
  const auto time = [&](const std::string& engine, const std::string& queues) {
    const auto points =
        run_emulated(*make_experiment("mlp_engines", box()), {{"engine", {engine}},
                                                              {"variant", {"corrected"}},
                                                              {"dispatch", {"worker"}},
                                                              {"queues", {queues}}});
    return points[0].find_metric("time")->value;
  };
  EXPECT_NEAR(time("static", "2") / time("static", "1"), 1, 0.01);
  EXPECT_LT(time("traced", "2"), 0.9 * time("traced", "1"));
  EXPECT_GT(time("traced", "2"), 0.5 * time("traced", "1"));
}

TEST(FusedFunctions, MakeFewerLaunchesOfTheSameProducts) {
  const auto launches = [&](const Experiment& experiment, const std::string& fused) {
    const auto points = run_emulated(experiment, {{"engine", {"static"}},
                                                  {"variant", {"corrected"}},
                                                  {"dispatch", {"worker"}},
                                                  {"fused", {fused}}});
    return std::stoi(*points[0].find_detail("launches"));
  };
  const auto mlp = make_experiment("mlp_engines", box());
  EXPECT_EQ(launches(*mlp, "yes"), launches(*mlp, "no") - 2) << "a bias of each layer";
  const auto gpt2 = make_experiment("gpt2_trace", box());
  EXPECT_LT(launches(*gpt2, "yes"), launches(*gpt2, "no") - 10) << "gelu backward alone";
}

TEST(CoreGrids, OfAStepKeepTheFidelityThatTtnnTakesWithoutOne) {
  const auto grid = [&](const std::string& value) {
    std::vector<AxisOverride> axes{{"engine", {"traced"}},
                                   {"variant", {"corrected"}},
                                   {"dispatch", {"worker"}},
                                   {"grid", {value}}};
    return run_emulated(*make_experiment("mlp_engines", box()), axes)[0];
  };
  EXPECT_NE(grid("4x7").find_detail("slowest_product")->find("HiFi2"), std::string::npos);
  EXPECT_GT(grid("1x1").find_metric("time")->value, grid("default").find_metric("time")->value);
}

TEST(CoreGrids, ThatTheChipDoesNotHaveAreSkippedWithTheReasonWhereverOneCanBeSaid) {
  const auto reason = [](const Experiment& experiment, std::vector<AxisOverride> axes) {
    for (const harness::Axis& axis : experiment.axes(harness::Backend::emulated)) {
      const bool given = std::ranges::find(axes, axis.name, &AxisOverride::axis) != axes.end();
      if (!given && !axis.values.empty()) axes.push_back({axis.name, {axis.values.back()}});
    }
    const auto points = run_emulated(experiment, axes);
    EXPECT_FALSE(points[0].failed) << points[0].id();
    return points[0].skipped.value_or("it ran");
  };
  int asked = 0;
  for (const auto& experiment : all_experiments(box())) {
    const auto axes = experiment->axes(harness::Backend::emulated);
    if (std::ranges::find(axes, "grid", &harness::Axis::name) == axes.end()) continue;
    ++asked;
    std::vector<AxisOverride> given{{"dispatch", {"worker"}}};
    if (std::ranges::find(axes, "engine", &harness::Axis::name) != axes.end()) {
      given.push_back({"engine", {"static"}});
    }
    for (const char* const grid : {"12x1", "9x9", "64x64", "8x8"}) {
      given.push_back({"grid", {grid}});
      EXPECT_EQ(reason(*experiment, given), std::string("the grid ") + grid +
                                                " is not on the chip: it has 8x7 cores with "
                                                "dispatch worker")
          << experiment->name();
      given.pop_back();
    }
    given[0] = {"dispatch", {"eth"}};
    given.push_back({"grid", {"9x8"}});
    EXPECT_NE(reason(*experiment, given).find("8x8 cores with dispatch eth"), std::string::npos);
    given.back() = {"grid", {"8x7"}};
    given.push_back({"queues", {"2"}});
    EXPECT_NE(reason(*experiment, given).find("each of two queues has 4x8"), std::string::npos);
  }
  EXPECT_EQ(asked, 6) << "experiments with axis grid";
}

TEST(OptionalAxes, ChangeNoPointThatDoesNotAskForThem) {
  const auto experiment = make_experiment("matmul_sweep", box());
  const auto points = run_emulated(*experiment, {{"shape", {"512"}}, {"dispatch", {"worker"}}});
  EXPECT_EQ(points[0].id(),
            "emulated/shape:512x512x512/dispatch:worker/dtype:bfloat16/fidelity:default/"
            "grid:default/sync:each");
  const auto asked = run_emulated(
      *experiment,
      {{"shape", {"512"}}, {"dispatch", {"worker"}}, {"trace", {"no"}}, {"queues", {"1"}}});
  EXPECT_EQ(asked[0].find_metric("time")->virtual_time,
            points[0].find_metric("time")->virtual_time);
}

TEST(OpList, AProductTakesAsLongAsTheSweepSays) {
  const auto listed = run_emulated(*make_experiment("op_list", box()),
                                   {{"ops", {"1024x512/matmul:768"}}, {"engine", {"static"}}});
  const auto swept =
      run_emulated(*make_experiment("matmul_sweep", box()),
                   {{"shape", {"1024x512x768"}}, {"dispatch", {"worker"}}, {"sync", {"end"}}});
  EXPECT_EQ(listed[0].find_metric("kernel_time")->virtual_time,
            swept[0].find_metric("kernel_time")->virtual_time);
}

TEST(OpList, BadListsAreRefusedWithWhatIsAccepted) {
  const auto refusal = [&](const std::string& ops) -> std::string {
    return error_of([&] { run_emulated(*make_experiment("op_list", box()), {{"ops", {ops}}}); });
  };
  EXPECT_NE(refusal("64x64/reluu").find("try relu"), std::string::npos);
  EXPECT_NE(refusal("64x64/matmul").find("matmul:N"), std::string::npos);
  EXPECT_NE(refusal("64x64/relu:3").find("accepted: relu"), std::string::npos);
  for (const char* const ops : {"64x64", "64/relu", "0x64/relu", "x/relu", "64x64/", "/relu"}) {
    EXPECT_NE(refusal(ops), "") << ops;
  }
}

}  // namespace
}  // namespace howard::experiments
