// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "engines/chip/profiles/profile.h"
#include "engines/device/forwarding_device.h"
#include "engines/reference/reference_device.h"
#include "experiments/checks/model_checks.h"
#include "experiments/checks/op_checks.h"
#include "experiments/laboratory/devbox.h"
#include "harness/runner.h"
#include "reports/published/reference.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using harness::PointResult;

harness::ExperimentResult run(const std::vector<std::string>& ops,
                              const std::vector<std::string>& dtypes = {"bfloat16"}) {
  const auto box =
      std::make_shared<const DevBox>(chip::load_profiles(), host::HostOptions{.threads = 1}, 1);
  const auto experiment = make_experiment("gradient_check", box);
  harness::ExperimentResult result{.experiment = "gradient_check"};
  result.points = harness::run_points(
      *experiment,
      harness::plan_points(*experiment, {.overrides = {{"op", ops}, {"dtype", dtypes}}}));
  reports::attach_references(result);
  return result;
}

const OpCheck& check_of(std::string_view op) {
  return *std::ranges::find(op_checks(), op, &OpCheck::op);
}

TEST(GradientCheck, HasTheReportsElevenRows) { EXPECT_EQ(op_checks().size(), 11U); }

// The report's 2e-5 is what bfloat16 makes of 0.02; nothing else happens in this row.
TEST(GradientCheck, TheEmbeddingsDifferenceIsTheRoundingOfItsConstant) {
  const PointResult point = run({"embedding_forward"}).points[0];
  EXPECT_NEAR(point.find_metric("max_difference")->value, 1.95e-5, 1e-7);
  EXPECT_EQ(point.find_metric("kernel_difference")->value, 0);
  EXPECT_EQ(*point.find_detail("vacuous"), "yes: zeros pass too");
}

TEST(GradientCheck, PublishedDifferencesStandBesideTheHostsBfloat16) {
  const auto result = run({"attention_qk"}, {"bfloat16", "float32"});
  ASSERT_EQ(result.points.size(), 2U);
  ASSERT_TRUE(result.points[0].reference);
  EXPECT_EQ(result.points[0].reference->value, 0.00253);
  EXPECT_FALSE(result.points[0].relative_error());
  EXPECT_FALSE(result.points[1].reference);
  EXPECT_EQ(*result.points[0].find_detail("vacuous"), "no");
  EXPECT_LT(result.points[1].find_metric("max_difference")->value, 1e-6);
}

TEST(GradientCheck, ADeviceWithFloat64HasNoKernelDifference) {
  reference::ReferenceDevice exact;
  const OpFinding finding = check_op(exact, check_of("linear_d_bias"), DataType::float32, 1);
  EXPECT_LT(finding.kernel_difference, 1e-6);
  EXPECT_TRUE(finding.passes);
  EXPECT_FALSE(finding.zeros_pass);
}

/// Computes the op on other numbers than it was given.
TEST(GradientCheck, AWrongOpFails) {
  OpCheck wrong = check_of("linear_d_bias");
  static const OpCheck right = check_of("linear_d_bias");
  wrong.run = [](const autograd::Calls& calls, std::span<const ops::Tensor> in) {
    const ops::Tensor sum = right.run(calls, in);
    // Only a device under test is a host; the reference stays right.
    return calls.device().description() == "reference" ? sum : calls.multiply(sum, 1.5F);
  };
  host::HostDevice device({.threads = 1});
  EXPECT_FALSE(check_op(device, wrong, DataType::float32, 1).passes);
  EXPECT_TRUE(check_op(device, right, DataType::float32, 1).passes);
}

TEST(GradientCheck, EveryParameterOfTheModelsIsRightForAllEngines) {
  const auto result = run(checked_models(), {"bfloat16", "float32"});
  ASSERT_EQ(result.points.size(), 6U);
  for (const PointResult& point : result.points) {
    EXPECT_EQ(*point.find_detail("verdict"), "passes") << point.id();
    EXPECT_EQ(*point.find_detail("engines"), "dynamic = static = traced") << point.id();
    // For bfloat16, sums in float32 mostly round to what those in float64 do, bit for bit.
    const bool is_exact = harness::find_parameter(point.parameters, "dtype") == "bfloat16";
    EXPECT_TRUE(is_exact || point.find_metric("relative_difference")->value > 0) << point.id();
  }
}

/// Is a host whose updates are wrong by 5 % for parameters of one size.
class FivePercentOff final : public ForwardingDevice {
 public:
  FivePercentOff(Device& device, std::int64_t elements)
      : ForwardingDevice(device), elements_(elements) {}

  int broken() const { return broken_; }

 private:
  /// The update is the only product with a scalar this large.
  void enqueue(const Program& program) override {
    Program changed = program;
    auto* const eltwise = std::get_if<EltwiseAttributes>(&changed.attributes);
    if (eltwise != nullptr && eltwise->scalar && *eltwise->scalar > 100 &&
        program.outputs[0].spec.shape.elements() == elements_) {
      *eltwise->scalar *= 1.05F;
      ++broken_;
    }
    queue_behind().enqueue(changed);
  }

  std::int64_t elements_;
  int broken_ = 0;
};

TEST(GradientCheck, AGradientThatIsFivePercentOffFailsInBfloat16Too) {
  host::HostDevice host({.threads = 1});
  for (const auto& [model, elements] :
       {std::pair{"mlp", 40 * 40}, std::pair{"gpt2", 24 * 40}, std::pair{"nano_gpt", 24 * 96}}) {
    for (const DataType dtype : {DataType::bfloat16, DataType::float32}) {
      FivePercentOff device(host, elements);
      const ModelFinding finding = check_model(device, model, dtype, 1);
      EXPECT_GT(device.broken(), 0) << model;
      EXPECT_TRUE(finding.engines_agree) << "all are wrong alike";
      EXPECT_FALSE(finding.passes) << model << ' ' << finding.max_difference;
    }
  }
}

TEST(GradientCheck, InBfloat16ModelsAreWithinTheirToleranceForManySeeds) {
  host::HostDevice host({.threads = 1});
  for (const std::string& model : checked_models()) {
    for (std::uint32_t seed = 1; seed <= 9; ++seed) {
      const ModelFinding finding = check_model(host, model, DataType::bfloat16, seed);
      EXPECT_TRUE(finding.passes) << model << " seed " << seed << ": " << finding.max_difference
                                  << " of " << finding.worst_parameter;
    }
  }
}

TEST(GradientCheck, HasNoMeaningOnTheEmulatedChip) {
  EXPECT_TRUE(make_experiment("gradient_check", nullptr)->axes(harness::Backend::emulated).empty());
}

}  // namespace
}  // namespace howard::experiments
