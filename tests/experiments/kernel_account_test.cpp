// SPDX-License-Identifier: Apache-2.0
#include "experiments/cases/kernel_account.h"

#include <gtest/gtest.h>

#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using calibration::Known;

constexpr double kMicrosecond = 1e-6;

chip::PlannedProgram launch_of(std::string_view name, std::int64_t microseconds,
                               chip::Bottleneck bottleneck) {
  chip::PlannedProgram launch;
  launch.name = name;
  launch.kernel.total = SimTime::microseconds(microseconds);
  launch.kernel.bottleneck = bottleneck;
  return launch;
}

const chip::PlannedProgram kAdd = launch_of("add", 40, chip::Bottleneck::dram);
const chip::PlannedProgram kSlowAdd = launch_of("add", 60, chip::Bottleneck::unpack);
const chip::PlannedProgram kSoftmax = launch_of("softmax", 20, chip::Bottleneck::math);
const calibration::Band kWell{"of many rows", Known::calibrated, 0.05, "rows"};
const calibration::Band kBadly{"of a row", Known::one_kernel, 0.25, "a row"};

/// Holds 80 us of additions and 20 us of a softmax.
KernelAccount account_of(KernelParts by) {
  KernelAccount account(by);
  account.add("mlp", kAdd, kWell, 2);
  account.add("head", kSoftmax, kBadly);
  return account;
}

TEST(KernelAccount, BandsAddInProportionToTheTimes) {
  EXPECT_FALSE(KernelAccount().expected_error({}));
  const auto error = account_of(KernelParts::ops)
                         .expected_error({.whole = 100 * kMicrosecond, .host = kMicrosecond});
  EXPECT_NEAR(error->share, 0.8 * kWell.share + 0.2 * kBadly.share, 1e-12);
  EXPECT_EQ(error->known, "calibrated 80 %, one kernel 20 %");
}

TEST(KernelAccount, WhoSetsThePaceDecidesOnWhatATimeRests) {
  const KernelAccount account = account_of(KernelParts::ops);
  const auto error_with = [&](double host) {
    return account.expected_error({.whole = 200 * kMicrosecond, .host = host * 200 * kMicrosecond})
        ->share;
  };
  const double kernels = 0.4 * kWell.share + 0.1 * kBadly.share;
  EXPECT_NEAR(error_with(0.96), kernels + 0.5 * calibration::dispatch_band("wormhole_b0").share,
              1e-12);
  EXPECT_EQ(error_with(0.97), calibration::host_band().share) << "kernels hide behind the calls";
}

TEST(KernelAccount, APartIsLimitedByWhatLimitsMostOfItsTime) {
  KernelAccount account;
  account.add("add", kAdd, kWell);
  account.add("add", kSlowAdd, kWell);
  account.add("softmax", kSoftmax, kBadly, 2, Flops{10});
  const auto parts = account.parts();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].name, "add") << "the longest first";
  EXPECT_EQ(parts[0].launches, 2);
  EXPECT_EQ(parts[0].kernel, SimTime::microseconds(100));
  EXPECT_EQ(parts[0].bottleneck(), chip::Bottleneck::unpack);
  EXPECT_EQ(parts[1].flops, Flops{20});
  EXPECT_EQ(account.launches(), 4);
}

TEST(KernelAccount, OpsAreSharesOfTheKernelsAndPartsOfAModelOfTheIteration) {
  const auto described = [](KernelParts by, double microseconds) {
    harness::PointResult point;
    account_of(by).describe(microseconds * kMicrosecond, std::nullopt, point);
    return *point.find_detail("kernels") + "; " + *point.find_detail("bound_by");
  };
  EXPECT_EQ(described(KernelParts::ops, 125),
            "mlp 80 % (2, DRAM bandwidth), head 20 % (1, math); kernels: mlp");
  EXPECT_EQ(described(KernelParts::layers, 125),
            "mlp 64 % (2, DRAM bandwidth), head 16 % (1, math); mlp: DRAM bandwidth");
  EXPECT_EQ(described(KernelParts::layers, 2000), "mlp 4 % (2, DRAM bandwidth); dispatch");
}

TEST(KernelAccount, BatchesAfterTheSecondAreLikeIt) {
  const KernelAccount one = account_of(KernelParts::ops);
  KernelAccount five = one;
  five.add("mlp", kSlowAdd, kWell);  // all that the second batch has
  five.extend(one, 3);
  const auto parts = five.parts();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].launches, 2 + 4);
  EXPECT_EQ(parts[0].kernel, SimTime::microseconds(80 + 4 * 60));
  EXPECT_EQ(parts[0].bottleneck(), chip::Bottleneck::unpack) << "the first batch's is the DRAM";
  EXPECT_EQ(parts[1].launches, 1);
  EXPECT_EQ(five.kernel_time(), SimTime::microseconds(340));
  EXPECT_NEAR(five.expected_error({.whole = 340 * kMicrosecond})->share,
              (320 * kWell.share + 20 * kBadly.share) / 340, 1e-12);
}

TEST(KernelAccount, CollectivesOfAStepAreKnownBesideItsKernelsAndMayBoundIt) {
  KernelAccount exchanges;
  exchanges.add("all_gather", launch_of("all_gather", 100, chip::Bottleneck::dram), kBadly);
  const auto described = [&](std::int64_t waited) {
    harness::PointResult point;
    account_of(KernelParts::ops)
        .describe(200 * kMicrosecond, std::nullopt, point, &exchanges,
                  SimTime::microseconds(waited));
    return point;
  };
  const harness::PointResult waits = described(100), hides = described(90);
  EXPECT_EQ(*waits.find_detail("bound_by"), "exchange");
  EXPECT_EQ(*hides.find_detail("bound_by"), "kernels: mlp");
  EXPECT_EQ(waits.find_metric("kernel_time")->virtual_time, SimTime::microseconds(100));
  EXPECT_EQ(waits.find_metric("kernel_time.all_gather"), nullptr) << "no kernel that computes";
  EXPECT_NEAR(waits.find_metric("expected_error")->value,
              (80 * kWell.share + 120 * kBadly.share) / 200, 1e-12);
}

TEST(KernelAccount, ProductsWhoseCallsSetThePaceAreKnownAsWellAsTheCalls) {
  // So slow a call takes longer than this product, its dispatch and its part of the finish.
  const auto box = std::make_shared<const DevBox>(
      chip::load_constants({.profiles = {}, .settings = {"host.op_call=1ms"}}), host::HostOptions{},
      1);
  for (const bool waits : {true, false}) {
    const auto points = run_emulated(
        *make_experiment("matmul_sweep", box),
        {{"shape", {"128x128x128"}}, {"dispatch", {"worker"}}, {"sync", {waits ? "each" : "end"}}});
    EXPECT_EQ(*points.at(0).find_detail("bound_by"), waits ? "dispatch" : "host");
    const double error = points.at(0).find_metric("expected_error")->value;
    EXPECT_EQ(error == calibration::host_band().share, !waits);
  }
}

}  // namespace
}  // namespace howard::experiments
