// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/pipeline/dram_banks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engines/chip/kernels/pipeline/tile_pipeline.h"
#include "tests/engines/chip/memory/dram_simulation.h"

namespace howard::chip {
namespace {

constexpr std::int64_t kTwelve = 12;
const Bytes kPage{2048};

class DramBanks : public ::testing::Test {
 protected:
  /// An elementwise op of `inputs` tensors without any interference of its math.
  SimTime closed_form(int tiles, int inputs, int cores) const {
    Profiles profiles = profiles_;
    profiles.software.tiles.interference = 0;
    const std::int64_t used = std::min(tiles, cores);
    return tile_pipeline_cost({.steps = ceil_div(tiles, used),
                               .all_steps = tiles,
                               .cores = static_cast<int>(used),
                               .reads = {inputs, 1},
                               .writes = {1, 1},
                               .compute = SimTime::nanoseconds(150),
                               .tile = kPage,
                               .out_tile = kPage},
                              {8, cores / 8}, profiles)
        .total;
  }
  /// In nanoseconds, with a skew as on an idle device.
  static double simulated(int tiles, int inputs, int cores) {
    return static_cast<double>(DramSimulation(tiles, inputs, cores).run(500, 450, 150));
  }

  Profiles profiles_ = load_profiles();
  const ChipProfile& chip_ = profiles_.chip;
};

TEST_F(DramBanks, CoresWhoseRunsAreMultiplesOfTheBanksBeginAtOneBank) {
  EXPECT_EQ(share_at_busiest_bank({768, 64}, kTwelve), kWhole) << "12 tiles a core";
  EXPECT_EQ(share_at_busiest_bank({3072, 64}, kTwelve), kWhole) << "48 tiles a core";
  EXPECT_EQ(share_at_busiest_bank({1024, 64}, kTwelve), kWhole * 22 / 64 + 1) << "16: 0, 4 and 8";
  EXPECT_LE(share_at_busiest_bank({3080, 56}, kTwelve), kWhole / 11) << "55 a core: every bank";
  EXPECT_EQ(share_at_busiest_bank({1, 1}, kTwelve), kWhole) << "one core is at one bank";
  // Rows of 12 tiles all begin at bank 0, however they are dealt out.
  EXPECT_EQ(share_at_busiest_bank({256, 56, 12, 12}, kTwelve), kWhole);
}

TEST_F(DramBanks, MarchingInStepTakesLongerAndWearsOff) {
  const auto time = [&](std::int64_t tiles, std::int64_t cores) {
    const Bytes bytes = tiles * kPage;
    return banks_time({.reads = bytes, .writes = bytes, .runs = {tiles, cores}}, chip_).seconds() /
           static_cast<double>(tiles);
  };
  const double spread = time(3080, 56);
  const double few = time(768, 64), many = time(6144, 64);
  EXPECT_GT(few, 1.5 * spread) << "12 tiles a core, all at one bank";
  EXPECT_GT(many, 1.05 * spread);
  EXPECT_LT(many, 1.3 * spread) << "96 tiles a core spread out on their way";
  EXPECT_GT(time(3072, 64), 1.1 * time(3072, 56)) << "the eighth row makes it slower";
}

TEST_F(DramBanks, ReadersAloneDoNotBlockEachOther) {
  const auto time = [&](Bytes reads, Bytes writes) {
    return banks_time({.reads = reads, .writes = writes, .runs = {768, 64}}, chip_);
  };
  const Bytes all = 768 * kPage;
  EXPECT_EQ(time(all, Bytes()), transfer_time(all, chip_.dram_read_noc0));
  EXPECT_GT(time(all, all), 2 * time(all, Bytes()));
}

TEST_F(DramBanks, ABlockOfOneTileOfEachRowMayLieInOneBank) {
  // K of 12 tiles, one tile a step: every row's tile is in the same bank; two tiles are in two.
  EXPECT_EQ(block_share_at_busiest_bank(8, 1, 12, kTwelve), kWhole);
  EXPECT_EQ(block_share_at_busiest_bank(8, 2, 12, kTwelve), kWhole / 2);
  EXPECT_EQ(block_share_at_busiest_bank(12, 1, 13, kTwelve), ceil_div(kWhole, 12));
  EXPECT_EQ(block_share_at_busiest_bank(4, 24, 7, kTwelve), ceil_div(kWhole, 12)) << "whole laps";
}

TEST_F(DramBanks, TheClosedFormFollowsTheSimulation) {
  constexpr std::array kTiles{256, 512, 768, 1000, 1024, 2048};
  double sum = 0;
  int compared = 0;
  for (const int inputs : {1, 2, 3}) {
    // What differs before the first tile is there is no matter of banks.
    const double start = simulated(1, inputs, 64) - closed_form(1, inputs, 64).seconds() * 1e9;
    for (const int cores : {56, 64}) {
      for (const int tiles : kTiles) {
        const double expected = simulated(tiles, inputs, cores) - start;
        const double error = closed_form(tiles, inputs, cores).seconds() * 1e9 / expected - 1;
        EXPECT_LT(std::abs(error), 0.18) << inputs << " inputs, " << tiles << " tiles on " << cores;
        sum += std::abs(error);
        ++compared;
      }
    }
  }
  EXPECT_LT(sum / compared, 0.07);
}

/// tt-metal's nightly sweeps of 2026, on 64 cores, of ops that are bound by the DRAM, and the
/// transpose of a CLIP encoder's log: the simulation itself is near them.
TEST_F(DramBanks, TheSimulationIsNearWhatWasMeasured) {
  EXPECT_NEAR(simulated(1024, 1, 64) / 25.6e3, 1, 0.06) << "identity and neg";
  // The starts of three tensors: 1.1 us later than of one.
  EXPECT_NEAR((simulated(1024, 3, 64) + 1.1e3) / 52.7e3, 1, 0.1) << "addcmul and where";
}

}  // namespace
}  // namespace howard::chip
