// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

TEST(LlamaStep, MorehAdamWIsFasterThanTheCompositeAndATraceThanCalls) {
  const auto points =
      run_emulated(*make_experiment("llama_step", built_in_box()), {{"model", {"nanollama3"}}});
  const auto time = [&](const std::string& point) {
    const double found = seconds(points, point);
    EXPECT_GT(found, 0) << point;
    return found;
  };
  EXPECT_LT(2 * time("engine:dynamic/optimizer:moreh"),
            time("engine:dynamic/optimizer:adamw") * 1.1);
  EXPECT_LT(time("engine:traced/optimizer:sgd"), time("engine:static/optimizer:sgd"));
  EXPECT_LT(time("engine:static/optimizer:sgd"), time("engine:dynamic/optimizer:sgd"));
}

TEST(LlamaStep, BlocksThatRunOnceMoreTakeLonger) {
  const auto points = run_emulated(*make_experiment("llama_step", built_in_box()),
                                   {{"model", {"nanollama3"}},
                                    {"engine", {"dynamic"}},
                                    {"optimizer", {"moreh"}},
                                    {"runner", {"default", "memory_efficient"}}});
  EXPECT_GT(seconds(points, "runner:memory_efficient"), 1.1 * seconds(points, "runner:default"));
}

TEST(LlamaStep, FormsOfModulesChangeTheTime) {
  const auto points = [](const std::string& axis) {
    return run_emulated(*make_experiment("llama_step", built_in_box()),
                        {{"model", {"nanollama3"}},
                         {"engine", {"dynamic"}},
                         {"optimizer", {"sgd"}},
                         {axis, {"composite", "fused"}}});
  };
  const auto norms = points("rmsnorm");
  EXPECT_GT(seconds(norms, "rmsnorm:composite"), seconds(norms, "rmsnorm:fused"));
  // Each core streams all weights for each row of tiles, which products of all rows share.
  const auto parts = points("swiglu");
  EXPECT_GT(seconds(parts, "swiglu:fused"), seconds(parts, "swiglu:composite"));
}

TEST(LlamaStep, AModelThatIsTooLargeSaysWhatItNeeds) {
  const auto points =
      run_emulated(*make_experiment("llama_step", built_in_box()),
                   {{"model", {"llama8b"}}, {"engine", {"dynamic"}}, {"optimizer", {"moreh"}}});
  ASSERT_EQ(points.size(), 1U);
  ASSERT_TRUE(points[0].skipped);
  EXPECT_NE(points[0].skipped->find("DRAM"), std::string::npos) << *points[0].skipped;
}

}  // namespace
}  // namespace howard::experiments
