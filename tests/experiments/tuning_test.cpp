// SPDX-License-Identifier: Apache-2.0
#include "experiments/questions/tuning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiments/questions/tuning_report.h"
#include "tests/error_of.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::PointResult;

Tuning tuned(std::vector<std::string> axes, std::size_t most = 3, int threads = 2) {
  return tune(*built_in_box(), tuned_products(axes).front(), most, threads);
}

std::vector<std::string> square(int n) {
  const std::string size = std::to_string(n);
  return {"m=" + size, "k=" + size, "n=" + size};
}

std::vector<std::string> with(std::vector<std::string> axes, const std::string& more) {
  axes.push_back(more);
  return axes;
}

PointResult swept(const std::string& shape, const std::string& config) {
  const auto sweep = make_experiment("matmul_sweep", built_in_box());
  const auto points = run_emulated(*sweep, {{"shape", {shape}},
                                            {"dispatch", {"worker"}},
                                            {"fidelity", {"HiFi2"}},
                                            {"config", {config}}});
  return points.front();
}

TEST(Tune, TheDefaultAndTheBestTakeWhatMatmulSweepTimes) {
  const Tuning tuning = tuned(square(1024));
  ASSERT_EQ(tuning.configs.size(), 4U);
  EXPECT_EQ(tuning.own_choice().rank, "default");
  for (const TunedConfig& config : {tuning.own_choice(), tuning.best(), tuning.configs.back()}) {
    const PointResult point =
        swept("1024x1024x1024", config.rank == "default" ? "default" : config_text(config));
    ASSERT_FALSE(point.skipped) << *point.skipped;
    EXPECT_EQ(point.find_metric("kernel_time")->virtual_time, config.time) << config.rank;
    EXPECT_EQ(point.find_metric("time")->virtual_time, config.call) << config.rank;
    EXPECT_EQ(*point.find_detail("matmul_config"), config.plan.text());
  }
}

TEST(Tune, TheBestComeFirstAndAreFasterThanTheCliff) {
  const Tuning tuning = tuned(square(4096), 10);
  ASSERT_EQ(tuning.configs.size(), 11U);
  EXPECT_TRUE(
      std::is_sorted(tuning.configs.begin() + 1, tuning.configs.end(),
                     [](const TunedConfig& a, const TunedConfig& b) { return a.time < b.time; }));
  EXPECT_GT(tuning.gain(tuning.best()), 4);
  EXPECT_GT(tuning.legal, 1'000'000U);
}

TEST(Tune, AnyNumberOfThreadsFindsTheSame) {
  const auto texts = [](int threads) {
    std::vector<std::string> all;
    for (const TunedConfig& config : tuned({"m=640", "k=768", "n=1920"}, 20, threads).configs) {
      all.push_back(config_text(config));
    }
    return all;
  };
  EXPECT_EQ(texts(1), texts(5));
}

TEST(Tune, AnActivationIsFusedWhereTheDefaultHasAProgramOfItsOwn) {
  const Tuning plain = tuned(square(1024));
  const Tuning gelu = tuned(with(square(1024), "activation=gelu"));
  EXPECT_GT(gelu.own_choice().time, plain.own_choice().time);
  EXPECT_FALSE(gelu.own_choice().plan.problem.activation.has_value());
  EXPECT_TRUE(gelu.best().plan.problem.activation.has_value());
  EXPECT_LT(gelu.best().time, gelu.own_choice().time);
  EXPECT_NE(best_python(gelu).find("UnaryOpType.GELU"), std::string::npos);
}

TEST(Tune, TensorsInL1LeaveLessForCircularBuffers) {
  const auto most_l1 = [](const Tuning& tuning) {
    std::int64_t most = 0;
    for (const TuningPlace& place : tuning.best_share) most = std::max(most, place.l1.value());
    return most;
  };
  const Tuning dram = tuned(square(2048));
  const Tuning l1 = tuned(with(with(square(2048), "memory_a=l1"), "memory_out=l1"));
  // Two tensors of 4096 tiles of 2 KiB, spread over 56 cores.
  const std::int64_t taken = 2 * ceil_div(4096, 56) * 2048;
  EXPECT_GT(most_l1(dram), 1'396'928 - taken);
  EXPECT_LE(most_l1(l1), 1'396'928 - taken);
  EXPECT_LT(l1.best().time, l1.own_choice().time);
}

TEST(Tune, ABatchOfBothIsTunedToo) {
  const Tuning tuning = tuned({"m=128", "k=64", "n=128", "batch=24", "batched=both"});
  EXPECT_GT(tuning.gain(tuning.best()), 1);
  EXPECT_EQ(tuning.best().plan.config.kind, MatmulKind::reuse);
}

TEST(Tune, BadAxesAreRefusedWithWhatWouldDo) {
  const auto reason = [](const std::vector<std::string>& axes) -> std::string {
    return error_of([&] { static_cast<void>(tuned(axes)); });
  };
  EXPECT_NE(reason({"m=32", "k=32"}).find("n is not given"), std::string::npos);
  EXPECT_NE(reason(with(square(32), "memory=l1")).find("there is no axis 'memory'"),
            std::string::npos);
  EXPECT_NE(reason({"m=0", "k=32", "n=32"}), "");
  EXPECT_NE(reason(with(square(32), "grid=9x7")).find("the grid 9x7 is not on the chip"),
            std::string::npos);
  EXPECT_NE(reason(with(square(8192), "memory_a=l1")), "");
}

TEST(Tune, ItsModuleHasEveryConfiguration) {
  const Tuning tuning = tuned(square(256));
  const std::string module = tuning_module(std::vector{tuning});
  for (const TunedConfig& config : tuning.configs) {
    EXPECT_NE(module.find("\"config\": \"" + config_text(config) + "\""), std::string::npos);
  }
  EXPECT_NE(module.find("math_fidelity=ttnn.MathFidelity.HiFi2"), std::string::npos);
}

TEST(Config, AnIllegalOneIsSkippedWithTtnnsReason) {
  const PointResult point = swept("512x512x512", "2d:grid=8x7:per_core=3x2:in0_block_w=5");
  ASSERT_TRUE(point.skipped);
  EXPECT_FALSE(point.failed);
  EXPECT_EQ(*point.skipped, "Kt must be divisible by in0_block_w: Kt is 16, in0_block_w 5");
  const PointResult large =
      swept("4096x4096x4096", "2d:grid=8x7:per_core=20x16:in0_block_w=128:out_subblock=1x1");
  ASSERT_TRUE(large.skipped);
  EXPECT_NE(large.skipped->find("its circular buffers need"), std::string::npos) << *large.skipped;
}

TEST(Config, ATrainingStepTakesItForAllItsProducts) {
  const auto mlp = make_experiment("mlp_engines", built_in_box());
  const auto time = [&](const std::string& config) {
    const auto points = run_emulated(*mlp, {{"engine", {"traced"}},
                                            {"variant", {"corrected"}},
                                            {"batch", {"2048"}},
                                            {"dim", {"2048"}},
                                            {"dispatch", {"worker"}},
                                            {"config", {config}}});
    EXPECT_FALSE(points.front().skipped) << *points.front().skipped;
    return points.front().find_metric("time")->value;
  };
  const std::string slow = "2d:grid=8x7:per_core=10x8:in0_block_w=1:out_block=1x1";
  EXPECT_GT(time(slow), 2 * time("default"));
  EXPECT_EQ(time("2048x2048x2048@" + slow), time(slow));
  EXPECT_EQ(time("2048x2048x1024@" + slow), time("default"));
}

TEST(Config, ExplainTriesTheFastestOnes) {
  const auto sweep = make_experiment("matmul_sweep", built_in_box());
  const harness::Parameters point{{"shape", "4096x4096x4096"}, {"dispatch", "worker"},
                                  {"dtype", "bfloat16"},       {"fidelity", "default"},
                                  {"grid", "default"},         {"sync", "each"}};
  const auto changes = sweep->what_ifs(point);
  const auto found = std::ranges::find(changes, "matmul configuration", &harness::WhatIf::what);
  ASSERT_NE(found, changes.end());
  ASSERT_EQ(found->candidates.size(), 3U);
  EXPECT_EQ(harness::find_parameter(found->candidates.front(), "fidelity"), "HiFi2");
  EXPECT_EQ(harness::find_parameter(found->candidates.front(), "config"),
            config_text(tuned(square(4096)).best()));
}

}  // namespace
}  // namespace howard::experiments
