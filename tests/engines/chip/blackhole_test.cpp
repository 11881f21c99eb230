// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/chip/dispatch/kept_binaries.h"
#include "engines/chip/emulated_chip.h"
#include "engines/chip/kernels/pipeline/clock.h"
#include "engines/chip/kernels/plan/footprint.h"
#include "engines/chip/profiles/profiles.h"
#include "engines/ops/tensor.h"
#include "tests/error_of.h"

namespace howard::chip {
namespace {

Profiles chip_named(std::string name) { return load_profiles({{std::move(name)}, {}}); }

CoreGrid compute_grid(std::string name) {
  return chip_named(std::move(name)).chip.compute_grid(DispatchCoreType::worker);
}

TEST(Blackhole, DispatchTakesTheLastColumnOfEachBoard) {
  EXPECT_EQ(compute_grid("blackhole_p100a"), (CoreGrid{11, 10}));
  EXPECT_EQ(compute_grid("blackhole_p150"), (CoreGrid{13, 10}));
  EXPECT_EQ(compute_grid("blackhole_p150_120"), (CoreGrid{11, 10}));
  EXPECT_EQ(compute_grid("blackhole_p300"), (CoreGrid{11, 10}));
  EXPECT_EQ(compute_grid("blackhole_galaxy"), (CoreGrid{12, 10}));
}

/// Returns the time of a long product on this board, without its dispatch.
SimTime long_product(const std::string& board) {
  EmulatedChip device(chip_named(board));
  const TensorSpec spec{.shape = {4160, 4160}};
  const ops::Tensor a(device, spec), b(device, spec), out(device, spec);
  return device.explain(make_program(MatmulAttributes{}, {a, b}, {out})).kernel.total;
}

TEST(Blackhole, TheFirmwareOf2025LowersTheClockEarlier) {
  EXPECT_EQ(compute_grid("blackhole_p150_2025"), (CoreGrid{13, 10}));
  EXPECT_GT(long_product("blackhole_p150_2025"), long_product("blackhole_p150"));
}

TEST(Blackhole, GradientsOfWeightsTakeAsLongAsPublished) {
  // tt-metal PR 35519, January 2026: products of TTML on a p100, HiFi4 with float32 sums, host time
  // of an iteration. Products that transpose nothing take 40 us less on the emulated chip.
  struct Row {
    std::int64_t rows, m, n;
    CoreGrid grid;
    double microseconds;
  };
  constexpr std::array kRows{
      Row{16384, 384, 1536, {7, 8}, 510.0}, Row{16384, 384, 1536, {10, 10}, 406.4},
      Row{16384, 1536, 384, {7, 8}, 537.8}, Row{16384, 1536, 384, {10, 10}, 455.1},
      Row{16384, 1152, 384, {7, 8}, 459.7}, Row{16384, 1152, 384, {10, 10}, 394.2},
      Row{4096, 3072, 768, {7, 8}, 443.9},  Row{4096, 3072, 768, {10, 10}, 318.3},
      Row{4096, 768, 768, {7, 8}, 153.0},   Row{4096, 768, 768, {10, 10}, 133.5},
      Row{4096, 96, 768, {7, 8}, 96.3},     Row{4096, 96, 768, {10, 10}, 89.8}};
  EmulatedChip device(chip_named("blackhole_p100a"));
  double sum = 0;
  for (const Row& row : kRows) {
    const ops::Tensor a(device, {.shape = {row.rows, row.m}});
    const ops::Tensor b(device, {.shape = {row.rows, row.n}});
    const ops::Tensor out(device, {.shape = {row.m, row.n}});
    const MatmulAttributes attributes{
        .transpose_a = true,
        .core_grid = row.grid,
        .compute = {.fidelity = MathFidelity::hifi4, .fp32_accumulation = true}};
    const SimTime time = device.explain(make_program(attributes, {a, b}, {out})).kernel.total;
    const double error = time.seconds() * 1e6 / (row.microseconds - 40) - 1;
    EXPECT_LT(std::abs(error), 0.16) << row.rows << "x" << row.m << "x" << row.n << " " << error;
    sum += std::abs(error);
  }
  EXPECT_LT(sum / std::size(kRows), 0.06);
}

TEST(Blackhole, AVersionOfTheSoftwareIsThatOfTheChipsArchitecture) {
  EXPECT_EQ(chip_named("blackhole_p150").software.name, "tt_metal_2025_12_blackhole");
  EXPECT_EQ(load_profiles({{"tt_metal_2026_07", "blackhole_p150"}, {}}).software.name,
            "tt_metal_2026_07_blackhole");
  EXPECT_EQ(load_profiles({{"tt_metal_2026_07"}, {}}).software.name, "tt_metal_2026_07");
}

TEST(Blackhole, SoftwareOfAnotherArchitectureIsRefused) {
  const ErrorText refused = error_parts_of([] {
    load_profiles({{"tt_metal_2025_12_blackhole"}, {}});
  });
  EXPECT_EQ(refused.attempted, "emulate wormhole_b0_n300");
  EXPECT_NE(refused.value.find("kernels for blackhole"), std::string::npos) << refused.value;
  EXPECT_EQ(refused.hint, "--software tt_metal_2025_12");
}

TEST(Blackhole, MoreCoresThanTheDieHasAreRefused) {
  const ErrorText refused = error_parts_of([] {
    load_profiles({{"blackhole_p150"}, {"tensix.columns=15count"}});
  });
  EXPECT_EQ(refused.value, "tensix.columns=15count");
  EXPECT_EQ(refused.accepted, "no more than the 14x10 cores of the die");
  EXPECT_THROW(load_profiles({{}, {"tensix.rows=11count"}}), Error);
}

TEST(Blackhole, EthDispatchIsRefusedWhereABoardHasNoCoresForIt) {
  const DeviceOptions eth{.dispatch = DispatchCoreType::eth};
  const ErrorText refused =
      error_parts_of([&] { const EmulatedChip device(chip_named("blackhole_p100a"), eth); });
  EXPECT_NE(refused.value.find("no ethernet cores"), std::string::npos) << refused.value;
  EXPECT_EQ(refused.accepted, "WORKER dispatch");
  EXPECT_EQ(EmulatedChip(chip_named("blackhole_p150"), eth).compute_grid(), (CoreGrid{14, 10}));
}

TEST(Blackhole, ACoresArgumentsAreSentWhileItsFixedCostPasses) {
  const SoftwareProfile software = chip_named("blackhole_p150").software;
  const DispatchCosts& cost = software.dispatch;
  Footprint footprint{.cores = 108, .binaries = 5, .unique_arguments = 1};
  const auto time = [&] { return dispatch_time(footprint, DispatchCoreType::worker, software); };
  const SimTime few = time();
  footprint.unique_arguments = 2;
  EXPECT_EQ(time(), few);
  footprint.unique_arguments = 1000;
  const SimTime sent = transfer_time(Bytes(4000), cost.write);
  EXPECT_EQ(time() - few, (sent - cost.core_arguments) * 108);
}

TEST(Blackhole, ATraceSendsTheBinariesOfAProgramOnce) {
  PlannedProgram one{.name = "one", .footprint = {.binary_bytes = Bytes(600)}};
  PlannedProgram other{.name = "other", .footprint = {.binary_bytes = Bytes(300)}};
  KeptBinaries kept(Bytes(1000));
  EXPECT_FALSE(kept.pass(one));
  EXPECT_TRUE(kept.pass(one));
  EXPECT_FALSE(kept.pass(other));
  EXPECT_TRUE(kept.pass(one)) << "both fit";
  PlannedProgram large{.name = "large", .footprint = {.binary_bytes = Bytes(700)}};
  EXPECT_FALSE(kept.pass(large));
  EXPECT_FALSE(kept.pass(one)) << "the oldest made room";
}

/// Returns the time of ten replayed products.
SimTime replayed(const std::string& software) {
  EmulatedChip device(load_profiles({{"blackhole_p150", software}, {}}));
  const ops::Tensor a(device, {{64, 64}});
  const ops::Tensor b(device, {{64, 64}});
  const ops::Tensor out(device, {{64, 64}});
  CommandQueue& queue = device.command_queue(0);
  queue.begin_trace_capture();
  for (int i = 0; i < 10; ++i) queue.enqueue(make_program(MatmulAttributes{}, {a, b}, {out}));
  const TraceId trace = queue.end_trace_capture();
  const SimTime start = device.now();
  queue.execute_trace(trace);
  queue.finish();
  return device.now() - start;
}

TEST(Blackhole, DispatchOfATraceIsShorterSinceItKeepsBinaries) {
  EXPECT_LT(replayed("tt_metal_2026_07"), replayed("tt_metal_2025_12"));
}

/// Returns the time of a default product of bfloat4_b with these settings.
SimTime product_time(std::vector<std::string> settings) {
  EmulatedChip device(load_profiles({{"blackhole_p150"}, std::move(settings)}));
  const TensorSpec spec{.shape = {1024, 1024}, .dtype = DataType::bfloat4_b};
  const ops::Tensor a(device, spec);
  const ops::Tensor b(device, spec);
  const ops::Tensor out(device, spec);
  return device.explain(make_program(MatmulAttributes{}, {a, b}, {out})).kernel.total;
}

TEST(Blackhole, SendersWaitForTheirBlocksAndBanksTakeOneRequestAfterTheOther) {
  const SimTime usual = product_time({});
  EXPECT_GT(product_time({"noc.multicast_flush=1000cycles"}), usual);
  EXPECT_LE(product_time({"noc.multicast_flush=0cycles"}), usual);
  EXPECT_GT(product_time({"noc.multicast_beside_reads=0count"}), usual);
  EXPECT_GT(product_time({"dram.request=100cycles"}), usual);
  EXPECT_EQ(product_time({"dram.request=1cycles"}), product_time({"dram.request=2cycles"}))
      << "the readers issue no faster";
}

TEST(Clock, FallsWithTheCoresAndWithTheLengthOfAKernelOnceTheLimitIsReached) {
  PowerCosts power{.limit = 150'000,
                   .idle = 70'000,
                   .core = 500,
                   .unpack = 500,
                   .patience = SimTime::microseconds(1000)};
  const SimTime time = SimTime::microseconds(1000);
  EXPECT_EQ(time_under_load(time, time, {.cores = 80, .unpacking = kWhole}, power), time);
  // The cores want 165 W of 150: 10 % more, half of which counts.
  EXPECT_EQ(time_under_load(time, time, {.cores = 95, .unpacking = kWhole}, power),
            SimTime::microseconds(1050));
  EXPECT_EQ(time_under_load(time, time, {.cores = 95, .unpacking = 0}, power), time);
  EXPECT_EQ(
      time_under_load(time, time, {.cores = 95, .busy = kWhole / 2, .unpacking = kWhole}, power),
      time);
  const SimTime shorter = SimTime::microseconds(500);
  EXPECT_EQ(time_under_load(shorter, shorter, {.cores = 95, .unpacking = kWhole}, power),
            SimTime::microseconds(510))
      << "a fifth of it, as the squares of the times";
  power.patience = SimTime();
  EXPECT_EQ(time_under_load(time, time, {.cores = 95, .unpacking = kWhole}, power),
            SimTime::microseconds(1100));
  power.limit = 0;
  EXPECT_EQ(time_under_load(time, time, {.cores = 95, .unpacking = kWhole}, power), time)
      << "no limit is known";
}

}  // namespace
}  // namespace howard::chip
