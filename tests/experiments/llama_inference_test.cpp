// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

TEST(LlamaInference, KernelsForDecodingAreFasterThanTtmlsCallsAndReplaysThanCalls) {
  const auto points = run_emulated(*make_experiment("llama_inference", built_in_box()),
                                   {{"model", {"nanollama3"}}, {"context", {"128"}}});
  const auto time = [&](const std::string& point) {
    const double found = seconds(points, point);
    EXPECT_GT(found, 0) << point;
    return found;
  };
  EXPECT_LT(time("calls:kernels/engine:dynamic"), time("calls:ttml/engine:dynamic"));
  EXPECT_LT(time("calls:kernels/engine:traced"), time("calls:kernels/engine:static"));
  EXPECT_LE(time("calls:kernels/engine:static"), time("calls:kernels/engine:dynamic"));
}

TEST(LlamaInference, TtmlsCallsCannotBeReplayed) {
  const auto points =
      run_emulated(*make_experiment("llama_inference", built_in_box()), {{"model", {"nanollama3"}},
                                                                         {"calls", {"ttml"}},
                                                                         {"engine", {"traced"}},
                                                                         {"context", {"32"}}});
  ASSERT_EQ(points.size(), 1U);
  ASSERT_TRUE(points[0].skipped);
}

TEST(LlamaInference, ATokenReadsAllWeightsOnce) {
  const auto points =
      run_emulated(*make_experiment("llama_inference", built_in_box()), {{"model", {"tinyllama"}},
                                                                         {"calls", {"kernels"}},
                                                                         {"engine", {"traced"}},
                                                                         {"context", {"128"}}});
  // 2.07 GB of weights beside the token table, at no more than the chip's 288 GB/s.
  EXPECT_GT(seconds(points, "tinyllama"), 2.07e9 / 288e9);
}

}  // namespace
}  // namespace howard::experiments
