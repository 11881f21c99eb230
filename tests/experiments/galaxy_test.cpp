// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

harness::PointResult on_galaxy(const std::string& model,
                               const std::vector<harness::AxisOverride>& more) {
  std::vector<harness::AxisOverride> axes{
      {"model", {model}}, {"machine", {"galaxy"}}, {"mode", {"performance"}}};
  axes.insert(axes.end(), more.begin(), more.end());
  return run_emulated(*make_experiment("inference", built_in_box()), axes).at(0);
}

double galaxy_metric(const std::string& model, const char* name,
                     const std::vector<harness::AxisOverride>& more = {}) {
  const harness::PointResult point = on_galaxy(model, more);
  EXPECT_FALSE(point.skipped) << point.id() << ": " << point.skipped.value_or("");
  return point.skipped ? 0 : point.find_metric(name)->value;
}

constexpr const char* kRate = "tokens_per_second_per_user";

TEST(Galaxy, AllChipsHoldALargeModelAsItsOwnDemoHasIt) {
  const double all = galaxy_metric("llama-3.3-70b", kRate, {{"batch", {"32"}}});
  EXPECT_GT(all, 3 * galaxy_metric("llama-3.3-70b", kRate, {{"batch", {"32"}}, {"dp", {"4"}}}))
      << "a quarter of the weights, and no host chooses tokens";
  EXPECT_NEAR(all, 72.5, 0.3 * 72.5) << "published for 32 users";
  EXPECT_EQ(all,
            galaxy_metric("llama-3.3-70b", kRate, {{"batch", {"32"}}, {"sampling", {"device"}}}));
  EXPECT_GT(galaxy_metric("qwen3-32b", kRate), all) << "less to read";
  EXPECT_LT(galaxy_metric("llama-3.3-70b", kRate, {{"context", {"65536"}}}), all);
}

TEST(Galaxy, APromptOfItsDemoIsReplayed) {
  const auto time = [](const char* prompt) {
    return galaxy_metric("llama-3.3-70b", "time_to_first_token",
                         {{"context", {"4096"}}, {"prompt", {prompt}}});
  };
  EXPECT_LT(time("128"), 80 * 24 * 48e-6) << "as long as Python takes to ask for the programs";
  EXPECT_GT(time("4096"), 4 * time("128"));
}

TEST(Galaxy, ItHoldsTheCacheOfAllUsersOnAllChips) {
  const double groups = galaxy_metric("llama-3.3-70b", "cache", {{"dp", {"4"}}});
  EXPECT_DOUBLE_EQ(4 * galaxy_metric("llama-3.3-70b", "cache"), groups);
}

}  // namespace
}  // namespace howard::experiments
