// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "engines/chip/profiles/profile.h"
#include "experiments/axes/mesh_shape.h"
#include "experiments/cases/llama_sizes.h"
#include "experiments/laboratory/experiment_list.h"
#include "experiments/questions/explain.h"
#include "experiments/questions/explain_question.h"
#include "experiments/training_plan/fit.h"
#include "experiments/training_plan/stage_chip.h"
#include "profiler/memory_recorder.h"
#include "tests/error_of.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::PointResult;

TEST(MeshShapes, AreReadAndOthersRefused) {
  EXPECT_EQ(mesh_text(parse_mesh("2x4")), "2x4x1");
  EXPECT_EQ(parse_mesh("2x4x3").chips(), 24);
  for (const char* const bad : {"", "0x1x1", "2x", "axb", "1x1x1x1", "-1x1x1", "64x64x1"}) {
    EXPECT_THROW(parse_mesh(bad), Error) << bad;
  }
}

class ParallelSteps : public ::testing::Test {
 protected:
  static PointResult point(const std::string& mesh, std::vector<harness::AxisOverride> more = {}) {
    more.push_back({"mesh", {mesh}});
    if (std::ranges::find(more, "model", &harness::AxisOverride::axis) == more.end()) {
      // The smallest whose parts chips can share.
      more.push_back({"model", {parse_mesh(mesh).tp == 1 ? "nanollama3" : "tinyllama"}});
    }
    const auto points = run_emulated(*make_experiment("parallel", built_in_box()), more);
    EXPECT_EQ(points.size(), 1U);
    return points.front();
  }
  static double metric(const PointResult& point, const std::string& name) {
    const harness::Metric* const found = point.find_metric(name);
    EXPECT_NE(found, nullptr) << name << ": " << point.skipped.value_or("");
    return found == nullptr ? 0 : found->value;
  }
};

TEST_F(ParallelSteps, PartsAddUpToTheStep) {
  const std::vector<harness::AxisOverride> once{{"micro_batches", {"1"}}};
  const std::vector<std::pair<std::string, PointResult>> steps{
      {"1x1x1", point("1x1x1")}, {"2x1x1", point("2x1x1")}, {"1x2x1", point("1x2x1")},
      {"1x1x2", point("1x1x2")}, {"2x2x2", point("2x2x2")}, {"1x2x2", point("1x2x2", once)}};
  for (const auto& [mesh, step] : steps) {
    double sum = 0;
    for (const char* const part :
         {"step_time.compute", "step_time.exchange", "step_time.bubble", "step_time.rest"}) {
      EXPECT_GE(metric(step, part), 0) << mesh << " " << part;
      sum += metric(step, part);
    }
    EXPECT_NEAR(sum, metric(step, "time"), 1e-11) << mesh;
  }
}

/// One chip, eight that divide the batch, and eight stages: a question to `fit` and to `parallel`.
TEST_F(ParallelSteps, AreThoseOfFit) {
  const std::filesystem::path files = std::filesystem::path(HOWARD_SOURCE) / "data" / "ttml";
  struct Shared {
    const char *mesh, *batch, *device, *hosts;
  };
  for (const Shared& shared : {Shared{"1x1x1", "1", "", ""},
                               {"8x1x1", "8", "loudbox_ddp.yaml", ""},
                               {"1x1x8", "1", "", "tinyllama_pipeline_8.yaml"}}) {
    FitQuestion question{.files = {.training = files / "train_tinyllama.yaml",
                                   .keys = {fmt::format("batch_size={}", shared.batch)}},
                         .search = false};
    if (*shared.device != 0) question.files.device = files / shared.device;
    if (*shared.hosts != 0) question.files.multihost = files / shared.hosts;
    const RunPlan plan = fit(question).plan;
    const PointResult step =
        point(shared.mesh,
              {{"model", {"tinyllama"}}, {"batch", {shared.batch}}, {"micro_batches", {"8"}}});
    const auto is = [&](const char* name, SimTime time) {
      EXPECT_EQ(metric(step, name), time.seconds()) << shared.mesh << " " << name;
    };
    is("time", plan.step.time);
    is("step_time.compute", plan.step.compute);
    is("step_time.exchange", plan.step.exchange + plan.step.sums);
    is("step_time.bubble", plan.step.bubble);
    is("step_time.rest", plan.step.rest());
    EXPECT_EQ(metric(step, "tokens"), plan.tokens_per_second()) << shared.mesh;
    EXPECT_EQ(metric(step, "memory"), static_cast<double>(plan.peak.value())) << shared.mesh;
    ASSERT_NE(step.find_detail("fits"), nullptr) << shared.mesh;
    EXPECT_EQ(*step.find_detail("fits") == "yes", plan.fits()) << shared.mesh;
  }
}

/// A machine's step of one chip, which three commands have.
TEST_F(ParallelSteps, OfOneChipAreThoseOfLlamaStepAndFitInWordsAndNumbers) {
  const std::filesystem::path files = std::filesystem::path(HOWARD_SOURCE) / "data" / "ttml";
  for (const char* const machine :
       {"wormhole_b0_n300", "wormhole_b0_n150", "blackhole_p100a", "blackhole_p150"}) {
    const chip::ProfileChoice choice{.profiles = {machine}, .settings = {}};
    const auto box = built_in_box()->with(chip::load_profiles(choice));
    for (const char* const batch : {"1", "3"}) {
      const std::string where = fmt::format("{}, batch {}", machine, batch);
      const PointResult alone =
          run_emulated(*make_experiment("llama_step", box), {{"model", {"nanollama3"}},
                                                             {"engine", {"dynamic"}},
                                                             {"optimizer", {"moreh"}},
                                                             {"batch", {batch}}})
              .at(0);
      const PointResult shared =
          run_emulated(*make_experiment("parallel", box), {{"model", {"nanollama3"}},
                                                           {"mesh", {"1x1x1"}},
                                                           {"batch", {batch}},
                                                           {"micro_batches", {"1"}}})
              .at(0);
      ASSERT_GT(alone.metrics.size(), 20U) << where << alone.skipped.value_or("");
      ASSERT_EQ(alone.metrics.size(), shared.metrics.size()) << where;
      for (std::size_t i = 0; i < alone.metrics.size(); ++i) {
        const harness::Metric& metric = alone.metrics[i];
        EXPECT_EQ(metric.name, shared.metrics[i].name) << where;
        EXPECT_EQ(metric.value, shared.metrics[i].value) << where << " " << metric.name;
        EXPECT_EQ(metric.virtual_time, shared.metrics[i].virtual_time) << where << metric.name;
      }
      for (const auto& [name, text] : alone.details) {
        if (name == harness::kTimed.name) continue;  // parallel has it as the title of its table
        ASSERT_NE(shared.find_detail(name), nullptr) << where << " " << name;
        EXPECT_EQ(text, *shared.find_detail(name)) << where << " " << name;
      }
      const RunPlan plan =
          fit({.files = {.training = files / "train_tinyllama.yaml",
                         .model = files / "nanollama3.yaml",
                         .keys = {fmt::format("batch_size={}", batch), "vocab_size=32000",
                                  "gradient_accumulation_steps=1"}},
               .profiles = choice,
               .search = false})
              .plan;
      const auto is = [&](const std::string& name, SimTime time) {
        const harness::Metric* const found = alone.find_metric(name);
        ASSERT_NE(found, nullptr) << where << " " << name;
        EXPECT_EQ(found->virtual_time, time) << where << " " << name;
      };
      is("time", plan.step.time);
      is("host_time", *plan.host);
      is("kernel_time", plan.step.compute);
      for (const auto& [part, time] : plan.step.parts())
        is(fmt::format("step_time.{}", part), time);
      for (const KernelAccount::Part& part : plan.kernels.parts()) {
        is("kernel_time." + part.name, part.kernel);
      }
      EXPECT_EQ(*alone.find_detail("launches"), std::to_string(plan.launches())) << where;
      EXPECT_EQ(alone.find_metric("expected_error")->value, plan.expected_error()->share) << where;
    }
  }
}

/// SGD's numbers do not change, so a replay is what a traced training runs.
TEST_F(ParallelSteps, ThatAreReplayedAreThoseOfFitsTracedEngine) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) /
                                     ("howard_replayed_" + std::to_string(::getpid()) + ".yaml");
  write_file(file,
             "training_config:\n  batch_size: 2\n  gradient_accumulation_steps: 3\n"
             "  optimizer: {type: SGDComposite}\n  model_config: " +
                 (std::filesystem::path(HOWARD_SOURCE) / "data/ttml/nanollama3.yaml").string() +
                 "\n");
  const RunPlan plan =
      fit({.files = {.training = file}, .engine = training::Engine::traced, .search = false}).plan;
  const PointResult step = point("1x1x1", {{"model", {file.string()}},
                                           {"batch", {"2"}},
                                           {"micro_batches", {"3"}},
                                           {"engine", {"traced"}}});
  EXPECT_EQ(metric(step, "time"), plan.step.time.seconds());
  EXPECT_EQ(metric(step, "host_time"), plan.host->seconds());
  EXPECT_LT(metric(step, "host_time"), 0.1 * metric(step, "time")) << "no calls are made";
  EXPECT_EQ(metric(step, "memory"), static_cast<double>(plan.peak.value()));
}

TEST_F(ParallelSteps, OfAFileAreExplainedAsThatOfFitAndChanged) {
  const std::filesystem::path files = std::filesystem::path(HOWARD_SOURCE) / "data" / "ttml";
  const std::string file = (files / "sonnets_nanogpt.yaml").string();
  const auto box = built_in_box();
  const ExplainQuestion question{.what = file, .axes = {"micro_batches=1"}};
  const ExperimentList list = all_experiments(box);
  const reports::Explanation found = answer(*box, question, plan_explanation(question, list));
  FitQuestion same{.files = {.training = file, .keys = {"gradient_accumulation_steps=1"}},
                   .search = false};
  const RunPlan plan = fit(same).plan;
  EXPECT_EQ(found.run.time, plan.step.time);
  EXPECT_EQ(found.command, "run_experiment explain " + file + " -a micro_batches=1 -a mesh=1x1x1");
  const auto traced =
      std::ranges::find(found.tried, "traced dispatch", &reports::TriedChange::what);
  ASSERT_NE(traced, found.tried.end());
  EXPECT_GT(found.gain(*traced), 1);
}

TEST_F(ParallelSteps, OfTiersAreNotExplained) {
  RunSetting tiers;
  tiers.plan.workers = 2;
  EXPECT_NE(error_of([&] { shared_as("my.yaml", tiers); }).find("workers in tiers share it"),
            std::string::npos);
}

TEST_F(ParallelSteps, WhoListensHearsOfWhatTheirChipsAllocate) {
  for (const char* const mesh : {"1x1x1", "1x1x2"}) {
    profiler::MemoryRecorder memory;
    memory.open("step");
    const auto box =
        std::make_shared<const DevBox>(chip::load_constants(), host::HostOptions{}, 1, &memory);
    run_emulated(*make_experiment("parallel", box),
                 {{"model", {"nanollama3"}}, {"mesh", {mesh}}, {"micro_batches", {"1"}}});
    // The token table of the first chip, and much more.
    EXPECT_GT(memory.use().dram_peak().dram, (Bytes{2 * 32000 * 384})) << mesh;
  }
}

TEST_F(ParallelSteps, OneChipExchangesNothingAndWaitsForNobody) {
  const PointResult alone = point("1x1x1");
  EXPECT_EQ(metric(alone, "step_time.exchange"), 0);
  EXPECT_EQ(metric(alone, "step_time.bubble"), 0);
  EXPECT_GT(metric(point("2x1x1"), "step_time.exchange"), 0);
  EXPECT_GT(metric(point("1x2x1"), "step_time.exchange"), 0);
}

TEST_F(ParallelSteps, DataParallelChipsExchangeTheGradientsOnceForAnUpdate) {
  const double once = metric(point("2x1x1", {{"micro_batches", {"1"}}}), "step_time.exchange");
  const double often = metric(point("2x1x1", {{"micro_batches", {"8"}}}), "step_time.exchange");
  EXPECT_EQ(once, often);
  // 34 million gradients of 2 bytes, half of each sum on the way there and half on the way back.
  EXPECT_GT(once, 34.3e6 * 2 / 7.42e9);
  EXPECT_LT(once, 2 * 34.3e6 * 2 / 7.42e9);
}

TEST_F(ParallelSteps, TensorParallelChipsExchangeInEachMicroBatch) {
  const double once = metric(point("1x2x1", {{"micro_batches", {"1"}}}), "step_time.exchange");
  const double often = metric(point("1x2x1", {{"micro_batches", {"8"}}}), "step_time.exchange");
  EXPECT_NEAR(often / once, 8, 1e-9);
}

TEST_F(ParallelSteps, ALossOfDividedLogitsExchangesLess) {
  const PointResult gathered = point("1x2x1");
  const PointResult sharded = point("1x2x1", {{"loss", {"sharded"}}});
  EXPECT_LT(metric(sharded, "step_time.exchange"), 0.97 * metric(gathered, "step_time.exchange"));
}

TEST_F(ParallelSteps, StagesWaitLessInBetterSchedules) {
  const auto of = [](const std::string& schedule) {
    return point("1x1x2", {{"schedule", {schedule}}, {"micro_batches", {"8"}}});
  };
  const PointResult ttml = of("ttml");
  const PointResult gpipe = of("gpipe");
  const PointResult interleaved = of("1f1b");
  // Two stages of TTML wait for half of the time, with the head's stage working longer.
  EXPECT_NEAR(metric(ttml, "step_time.bubble") / metric(ttml, "time"), 0.5, 0.03);
  EXPECT_LT(metric(gpipe, "time"), 0.8 * metric(ttml, "time"));
  EXPECT_LT(metric(interleaved, "time"), 0.8 * metric(ttml, "time"));
  EXPECT_LT(metric(interleaved, "memory"), metric(gpipe, "memory"));
  const PointResult linked = point("1x1x2", {{"socket", {"fabric"}}});
  EXPECT_LT(metric(linked, "step_time.exchange"), metric(point("1x1x2"), "step_time.exchange"));
  EXPECT_NEAR(metric(linked, "memory") - metric(point("1x1x2"), "memory"), 80e6, 1)
      << "the ring of the one socket that a stage receives from";
}

TEST_F(ParallelSteps, TheFirstStageWritesTokensAndTheLastOneTargetsAndReadsTheLoss) {
  // The forward pass of two of six blocks, with a constant that may be set.
  const auto forward = [](int first_block, std::vector<std::string> settings = {}) {
    RunSetting setting{.recipe = {.model = llama_sizes_of("nanollama3")}};
    setting.vocabulary = setting.recipe.model.vocabulary;
    setting.recipe.model.batch = 1;
    StageChip stage(setting, chip::load_profiles({{}, std::move(settings)}), first_block,
                    first_block + 2, nullptr);
    return stage.run().forward.time;
  };
  EXPECT_GT(forward(0, {"pcie.write=0.001GB/s"}), forward(0));
  EXPECT_EQ(forward(2, {"pcie.write=0.001GB/s"}), forward(2));
  EXPECT_GT(forward(4, {"pcie.write=0.001GB/s"}), forward(4));
  EXPECT_EQ(forward(0, {"pcie.read=0.001GB/s"}), forward(0));
  EXPECT_EQ(forward(2, {"pcie.read=0.001GB/s"}), forward(2));
  EXPECT_GT(forward(4, {"pcie.read=0.001GB/s"}), forward(4));
}

TEST_F(ParallelSteps, InterleavedChunksDivideTheBubbleAndNeedMore) {
  // The blocks of tinyllama, of which the head is a small part.
  const std::vector<harness::AxisOverride> whole_stages{{"schedule", {"1f1b"}}, {"batch", {"1"}}};
  const auto of = [&](const std::string& chunks) {
    auto more = whole_stages;
    more.push_back({"chunks", {chunks}});
    return point("1x2x2", more);
  };
  const PointResult whole = of("1");
  const PointResult two = of("2");
  EXPECT_EQ(metric(whole, "time"), metric(point("1x2x2", whole_stages), "time"));
  EXPECT_LT(metric(two, "step_time.bubble"), 0.8 * metric(whole, "step_time.bubble"));
  EXPECT_GT(metric(two, "step_time.exchange"), metric(whole, "step_time.exchange"));
  EXPECT_GT(metric(two, "memory"), metric(whole, "memory"));
  const auto skipped = [](const std::string& schedule, const std::string& micro_batches,
                          const std::string& chunks) {
    return point(
               "1x1x2",
               {{"schedule", {schedule}}, {"micro_batches", {micro_batches}}, {"chunks", {chunks}}})
        .skipped.value_or("");
  };
  EXPECT_EQ(skipped("gpipe", "4", "2"),
            "cannot interleave 2 chunks of each stage: 2 stages, schedule gpipe; accepted: several "
            "stages "
            "and schedule 1f1b");
  EXPECT_EQ(skipped("1f1b", "3", "2"),
            "cannot interleave 2 chunks of each stage: 3 micro-batches; accepted: "
            "gradient_accumulation_steps that the 2 stages divide");
  EXPECT_EQ(skipped("1f1b", "4", "4"),
            "cannot interleave 4 chunks of each stage: a stage of 3 blocks; accepted: a block for "
            "each chunk");
}

TEST_F(ParallelSteps, DividedSequencesKeepFewerActivationsAndMoveAsManyBytes) {
  const std::vector<harness::AxisOverride> divided{{"sequence", {"divided"}}};
  const PointResult whole = point("1x4x1");
  const PointResult rows = point("1x4x1", divided);
  EXPECT_LT(metric(rows, "memory"), 0.9 * metric(whole, "memory"));
  // TTML sums the gradients of q, kv, w1 and w3 one by one, six sums a block; here there are four.
  EXPECT_LT(metric(rows, "step_time.exchange"), metric(whole, "step_time.exchange"));
  EXPECT_GT(metric(rows, "step_time.exchange"), 0.5 * metric(whole, "step_time.exchange"));
  EXPECT_LT(metric(rows, "step_time.compute"), metric(whole, "step_time.compute"));
  EXPECT_EQ(point("2x1x1", divided).skipped, "one chip of a group has whole sequences");
}

TEST_F(ParallelSteps, SumsBesideTheBackwardPassHideNoMoreThanIt) {
  for (const char* const mesh : {"2x1x1", "2x1x2"}) {
    const PointResult after = point(mesh);
    const PointResult beside = point(mesh, {{"overlap", {"backward"}}});
    EXPECT_LT(metric(beside, "step_time.exchange"), 0.7 * metric(after, "step_time.exchange"));
    EXPECT_NEAR(metric(beside, "step_time.compute"), metric(after, "step_time.compute"), 1e-11);
    const double hidden =
        metric(after, "step_time.exchange") - metric(beside, "step_time.exchange");
    // Stages do not all sum at the same time, so that the mean hides more than the last one gains.
    EXPECT_LE(metric(after, "time") - metric(beside, "time"), 1.01 * hidden) << mesh;
  }
  EXPECT_EQ(point("1x2x1", {{"overlap", {"backward"}}}).skipped,
            "one group of chips sums no gradients");
}

TEST_F(ParallelSteps, SlowLinksAreHiddenAsFarAsThePassesLast) {
  // So few tokens that the passes are shorter than the sums: some of these stay.
  const std::vector<harness::AxisOverride> short_passes{{"batch", {"2"}}, {"micro_batches", {"1"}}};
  auto beside = short_passes;
  beside.push_back({"overlap", {"backward"}});
  const double after = metric(point("2x1x1", short_passes), "step_time.exchange");
  const double left = metric(point("2x1x1", beside), "step_time.exchange");
  EXPECT_GT(left, 0);
  EXPECT_LT(left, after);
}

TEST_F(ParallelSteps, FasterLinksExchangeFaster) {
  const double once = metric(point("2x1x1"), "step_time.exchange");
  const double twice = metric(point("2x1x1", {{"links", {"2"}}}), "step_time.exchange");
  EXPECT_LT(twice, 0.95 * once);
  EXPECT_GT(twice, 0.5 * once) << "start and steps stay";
}

TEST_F(ParallelSteps, TracedChipsTakeLessOfTheHost) {
  // Small passes: the host's calls take longer than the kernels.
  for (const char* const mesh : {"2x1x1", "1x1x2"}) {
    const std::vector<harness::AxisOverride> small{{"batch", {"2"}}};
    auto traced = small;
    traced.push_back({"engine", {"traced"}});
    EXPECT_LT(metric(point(mesh, traced), "step_time.rest"),
              0.7 * metric(point(mesh, small), "step_time.rest"))
        << mesh;
  }
}

TEST_F(ParallelSteps, MeshesOfTheBoxesRun) {
  // N300, LoudBox as a line and as two axes, and a Galaxy's line.
  for (const char* const mesh : {"2x1x1", "8x1x1", "2x4x1", "4x2x1", "1x1x8", "8x4x1", "32x1x1"}) {
    const PointResult step = point(mesh, {{"batch", {"32"}}, {"micro_batches", {"1"}}});
    if (mesh == std::string("1x1x8")) {
      EXPECT_EQ(step.skipped, "6 blocks cannot be divided by 8 stages");
    } else {
      EXPECT_GT(metric(step, "tokens"), 0) << mesh;
    }
  }
  // An N150 has more columns of cores than a chip of an N300.
  const auto n150 =
      built_in_box()->with(chip::load_profiles({.profiles = {"wormhole_b0_n150"}, .settings = {}}));
  const auto steps = run_emulated(*make_experiment("parallel", n150),
                                  {{"model", {"nanollama3"}}, {"mesh", {"1x1x1"}}});
  EXPECT_LT(metric(steps.at(0), "time"), metric(point("1x1x1"), "time"));
}

TEST_F(ParallelSteps, WhatIfsNameWhatTheyChange) {
  const auto experiment = make_experiment("parallel", built_in_box());
  const harness::Parameters stages{
      {"model", "nanollama3"}, {"mesh", "2x1x2"},    {"schedule", "ttml"}, {"batch", "8"},
      {"micro_batches", "4"},  {"loss", "gathered"}, {"socket", "mpi"},    {"dispatch", "worker"}};
  const auto find = [&](const harness::Parameters& parameters, const std::string& words) {
    for (const harness::WhatIf& change : experiment->what_ifs(parameters)) {
      if (change.what.find(words) != std::string::npos) return change;
    }
    ADD_FAILURE() << words;
    return harness::WhatIf{};
  };
  EXPECT_EQ(find(stages, "links twice").candidates,
            (std::vector<harness::Parameters>{{{"links", "2"}}}));
  EXPECT_EQ(find(stages, "beside").candidates,
            (std::vector<harness::Parameters>{{{"overlap", "backward"}}}));
  EXPECT_EQ(find(stages, "no bubble").candidates,
            (std::vector<harness::Parameters>{{{"mesh", "4x1x1"}, {"schedule", "ttml"}}}))
      << "three groups of heads: no TP";
  EXPECT_EQ(find(stages, "more of them").candidates.size(), 2U) << "8 sequences in two groups";
  EXPECT_EQ(find(stages, "1f1b").candidates.size(), 1U);
  const harness::Parameters alone = harness::changed(stages, {{"mesh", "1x1x1"}});
  EXPECT_EQ(find(alone, "links twice").reason, "one chip uses no link");
  EXPECT_EQ(find(alone, "shared otherwise").reason, "one chip shares nothing");
  EXPECT_EQ(find(alone, "traced").candidates.size(), 1U);
}

TEST_F(ParallelSteps, AreExplainedByTheirParts) {
  const auto box = built_in_box();
  const auto experiment = make_experiment("parallel", box);
  const reports::Explanation explained = explain(*box, *experiment,
                                                 {{"model", "nanollama3"},
                                                  {"mesh", "1x1x2"},
                                                  {"schedule", "ttml"},
                                                  {"batch", "8"},
                                                  {"micro_batches", "4"},
                                                  {"loss", "gathered"},
                                                  {"socket", "mpi"},
                                                  {"dispatch", "worker"}});
  SimTime sum;
  for (const profiler::Cost& part : explained.run.costs) sum += part.time;
  EXPECT_EQ(explained.run.costs.size(), 4U);
  EXPECT_EQ(sum, explained.run.time);
  EXPECT_EQ(reports::verdict_sentence(explained.run).find("bubble is "), 0U);
  const auto tried = [&](const std::string& what) {
    const auto found = std::ranges::find(explained.tried, what, &reports::TriedChange::what);
    EXPECT_NE(found, explained.tried.end()) << what;
    return found == explained.tried.end() ? 0 : explained.gain(*found);
  };
  EXPECT_GT(tried("schedule 1f1b"), 1.2);
  EXPECT_GT(tried("no stages, no bubble: the same chips by DDP and TP"), 1.5);
  EXPECT_FALSE(reports::explanation_tables(explained).at(0).rows.empty());
}

TEST_F(ParallelSteps, WhatAMeshDoesNotDivideIsSaid) {
  EXPECT_EQ(point("1x3x1").skipped, "32 heads cannot be divided by 3 chips");
  EXPECT_EQ(point("1x8x1").skipped, "4 groups of heads cannot be divided by 8 chips");
  EXPECT_EQ(point("3x1x1").skipped, "8 sequences cannot be divided by 3 groups of chips");
  EXPECT_EQ(point("1x1x7").skipped, "6 blocks cannot be divided by 7 stages");
  EXPECT_EQ(point("2x1x1", {{"schedule", {"gpipe"}}}).skipped, "one stage has no schedule");
}

}  // namespace
}  // namespace howard::experiments
