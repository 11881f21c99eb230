// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/profiles/profile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "engines/chip/profiles/contradictions.h"
#include "engines/chip/profiles/profiles.h"
#include "tests/error_of.h"

namespace howard::chip {
namespace {

using nlohmann::json;

class ProfileFile : public ::testing::Test {
 protected:
  ~ProfileFile() override { std::filesystem::remove(path_); }

  /// Returns the built-in chip profile, changed, as a file.
  std::string chip_with(const std::function<void(json&)>& change) {
    json document = json::parse(built_in_profile(kDefaultChipProfile));
    change(document);
    write_file(path_, document.dump());
    return path_;
  }

  std::string path_ = ::testing::TempDir() + "howard_profile_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

TEST(Profile, BuiltInProfilesLoadWholeAndGiveEveryConstantASource) {
  const Profiles profiles = load_profiles();
  EXPECT_EQ(profiles.chip.name, kDefaultChipProfile);
  EXPECT_EQ(profiles.software.name, kDefaultSoftwareProfile);
  for (const std::string& name : built_in_profiles()) {
    const json document = json::parse(built_in_profile(name));
    EXPECT_FALSE(document["constants"].empty());
    for (const auto& [constant, entry] : document["constants"].items()) {
      const auto source = entry["source"].get<std::string>();
      const bool known =
          source.starts_with("datasheet: ") || source.starts_with("unknown: ") ||
          source.starts_with("published measurement: ") || source.starts_with("calibrated on ") ||
          source.starts_with("estimated by analogy with ") || source.starts_with("fitted on ");
      EXPECT_TRUE(known) << constant << ": " << source;
    }
  }
}

TEST(Profile, EveryCalibratedConstantOfABuiltInProfileHasBounds) {
  const ProfileConstants constants = load_constants();
  int calibrated = 0;
  for (const Constants* const family : {&constants.chip, &constants.software}) {
    for (const std::string& name : family->names()) {
      const Constant& constant = family->at(name);
      if (!constant.is_calibrated()) continue;
      ++calibrated;
      // The value lies within them, or it is not a profile.
      EXPECT_TRUE(constant.bounds.has_value()) << name;
    }
  }
  EXPECT_GT(calibrated, 20);
}

TEST(Profile, AWrittenProfileGivesTheSameProfiles) {
  const ProfileConstants constants = load_constants({.settings = {"noc.link=30B/cycle"}});
  const ProfileConstants back{Constants::parse(constants.chip.to_json(), "chip", "chip"),
                              Constants::parse(constants.software.to_json(), "sw", "software")};
  EXPECT_EQ(read_profiles(back).chip.noc_link, Bandwidth(30'000'000'000));
  EXPECT_EQ(read_profiles(back).software.dispatch.program,
            load_profiles().software.dispatch.program);
}

TEST(Profile, PeakFollowsCoresFidelityAndClock) {
  ChipProfile chip = load_profiles().chip;
  EXPECT_DOUBLE_EQ(chip.peak_flops(1, MathFidelity::lofi), 4.096e12);
  EXPECT_DOUBLE_EQ(chip.peak_flops(56, MathFidelity::hifi2), 56 * 2.048e12);
  EXPECT_DOUBLE_EQ(chip.peak_flops(64, MathFidelity::hifi4), 64 * 1.024e12);
  chip.aiclk = Frequency(500'000'000);
  EXPECT_DOUBLE_EQ(chip.peak_flops(1, MathFidelity::lofi), 2.048e12);
}

TEST(Profile, WhatFollowsFromOtherConstantsIsComputed) {
  const Profiles profiles = load_profiles();
  EXPECT_EQ(profiles.chip.tile_pass(), SimTime::nanoseconds(16))
      << "65536 operations, 4096 a cycle";
  EXPECT_EQ(profiles.chip.l1_circular_buffers, Bytes(1'396'928)) << "tt-metal's own figure";
  EXPECT_EQ(profiles.chip.dram_read_noc1, Bandwidth(82'000'000'000));
  const Profiles other = load_profiles(
      {.settings = {"matrix.flops_per_cycle=1024count", "dispatch.configuration_ring=138KiB",
                    "dram.bandwidth=26.7GB/s", "tensix.rows=10count"}});
  EXPECT_EQ(other.chip.tile_pass(), SimTime::nanoseconds(64));
  EXPECT_EQ(other.chip.l1_circular_buffers, Bytes(1'396'928 - 69 * 1024));
  EXPECT_EQ(other.chip.dram_read_noc1, Bandwidth(8'200'000'000));
  EXPECT_EQ(other.chip.worker_grid, (CoreGrid{8, 9}));
}

TEST(Profile, AContradictionIsRefusedWithBothValues) {
  struct Case {
    std::vector<std::string> settings, named;
  };
  const Case cases[] = {
      {{"dram.spread=300GB/s"}, {"dram.spread=300GB/s", "dram.bandwidth=267GB/s"}},
      {{"dram.read.noc0=110%"}, {"dram.read.noc0=110%", "dram.bandwidth=267GB/s"}},
      {{"dram.bandwidth=100GB/s", "dram.read.noc1=190GB/s"},
       {"dram.read.noc1=190GB/s", "dram.bandwidth=100GB/s"}},
      {{"grid.eth.rows=9count"}, {"grid.eth.rows=9count", "tensix.rows=8count"}},
      {{"l1.capacity=64KiB"}, {"l1.firmware=31552B", "l1.capacity=64KiB"}},
      {{"ttnn.binary_bytes=80000B"},
       {"ttnn.binary_bytes=80000B", "dispatch.configuration_ring=70656B"}},
      {{"trace.region=13GiB"}, {"trace.region=13GiB", "dram.capacity=12GiB"}},
      {{"tensix.rows=1count"}, {"tensix.rows=1count"}},
  };
  for (const Case& one : cases) {
    try {
      load_profiles({.profiles = {}, .settings = one.settings});
      ADD_FAILURE() << one.settings[0] << " is accepted";
    } catch (const Contradiction& refusal) {
      for (const std::string& named : one.named) {
        EXPECT_NE(refusal.text().value.find(named), std::string::npos) << refusal.what();
      }
    }
  }
  EXPECT_NO_THROW(load_profiles({.settings = {"dram.spread=100%"}}));
  EXPECT_NO_THROW(load_profiles({.settings = {"grid.eth.rows=9count", "tensix.rows=9count"}}));
}

TEST(Profile, WhatWasPublishedIsOfTheDefaultConstantsWhateverTheyAreCalled) {
  EXPECT_TRUE(are_published(load_profiles()));
  EXPECT_TRUE(are_published(load_profiles({.profiles = {"wormhole_b0_n300"}})));
  EXPECT_TRUE(are_published(load_profiles({.settings = {"noc.link=28B/cycle"}}))) << "as it was";
  EXPECT_FALSE(are_published(load_profiles({.settings = {"noc.link=29B/cycle"}})));
  EXPECT_FALSE(are_published(load_profiles({.settings = {"host.finish=38.8us"}})));
  EXPECT_FALSE(are_published(load_profiles({.profiles = {"wormhole_b0_n150"}})));
}

TEST(Profile, DispatchDecidesTheComputeGrid) {
  const ChipProfile chip = load_profiles().chip;
  EXPECT_EQ(chip.compute_grid(DispatchCoreType::worker), (CoreGrid{8, 7}));
  EXPECT_EQ(chip.compute_grid(DispatchCoreType::eth), (CoreGrid{8, 8}));
}

TEST(Profile, AVariantKnowsTheBuiltInProfileThatItIsOf) {
  const Constants set = load_constants({{"wormhole_b0_n150"}, {"noc.link=30B/cycle"}}).chip;
  EXPECT_NE(set.name(), "wormhole_b0_n150");
  EXPECT_EQ(set.built_in(), "wormhole_b0_n150");
  EXPECT_EQ(Constants::parse(set.to_json(), "written.json", "chip").built_in(), "wormhole_b0_n150");
  EXPECT_EQ(load_constants().chip.built_in(), "wormhole_b0_n300");
  EXPECT_EQ(load_constants().software.built_in(), "tt_metal_2025_12");
  EXPECT_EQ(load_constants({{"blackhole_p300"}, {}}).chip.built_in(), "blackhole_p300");
}

TEST(Profile, UnitsOfAKindAreOfOneScale) {
  const auto set = [](const std::string& setting) {
    return load_profiles({.profiles = {}, .settings = {setting}});
  };
  EXPECT_EQ(set("dram.bandwidth=0.25TB/s").chip.dram_bandwidth, Bandwidth(250'000'000'000));
  EXPECT_EQ(set("dram.bandwidth=2.5e2GB/s").chip.dram_bandwidth, Bandwidth(250'000'000'000));
  EXPECT_EQ(set("noc.link=0.028KB/cycle").chip.noc_link, load_profiles().chip.noc_link);
  EXPECT_EQ(set("clock.aiclk=1e6kHz").chip.aiclk, load_profiles().chip.aiclk);
  EXPECT_EQ(set("host.finish=4e-5s").software.host_finish,
            set("host.finish=40us").software.host_finish);
}

TEST(Profile, DispatchTakesTheLastRowOrTheLastColumn) {
  const ChipProfile chip = load_profiles({.profiles = {"blackhole_galaxy"}, .settings = {}}).chip;
  EXPECT_EQ(chip.compute_grid(DispatchCoreType::worker), (CoreGrid{12, 10}));
  EXPECT_EQ(chip.compute_grid(DispatchCoreType::eth), (CoreGrid{13, 10}));
}

TEST_F(ProfileFile, AConstantThatWasRenamedIsRefusedWithItsNewName) {
  const ErrorText set =
      error_parts_of([] { load_profiles({.settings = {"matmul.read_issue=63cycles"}}); });
  EXPECT_EQ(set.hint, "noc.read_issue=..., as it is called now");
  const std::string file = chip_with([](json& document) {
    document["constants"]["matmul.read_issue"] = document["constants"]["noc.read_latency"];
  });
  const ErrorText read = error_parts_of([&] { load_profiles({.profiles = {file}}); });
  EXPECT_EQ(read.hint, "\"noc.read_issue\", as it is called now");
}

TEST_F(ProfileFile, AFileReplacesTheBuiltInOne) {
  const std::string file =
      chip_with([](json& document) { document["constants"]["clock.aiclk"]["value"] = 500; });
  const Profiles profiles = load_profiles({.profiles = {file}});
  EXPECT_EQ(profiles.chip.aiclk, Frequency(500'000'000));
  EXPECT_EQ(profiles.software.matmul_start, 2 * load_profiles().software.matmul_start)
      << "kernel costs are cycles of the chip's clock";
  EXPECT_EQ(profiles.software.host_op_call, load_profiles().software.host_op_call)
      << "the host has a clock of its own";
}

TEST_F(ProfileFile, AMissingConstantIsAnError) {
  const std::string file = chip_with([](json& d) { d["constants"].erase("noc.link"); });
  EXPECT_THROW(load_profiles({.profiles = {file}}), Error);
}

TEST_F(ProfileFile, AWrongUnitIsAnError) {
  const std::string file = chip_with([](json& d) { d["constants"]["noc.link"]["unit"] = "ns"; });
  EXPECT_THROW(load_profiles({.profiles = {file}}), Error);
}

TEST_F(ProfileFile, AnUnknownConstantIsAnError) {
  const std::string file =
      chip_with([](json& d) { d["constants"]["noc.lnik"] = d["constants"]["noc.link"]; });
  EXPECT_THROW(load_profiles({.profiles = {file}}), Error);
}

TEST_F(ProfileFile, AMissingFileIsAnError) {
  EXPECT_THROW(load_profiles({.profiles = {"/no/such/file"}}), Error);
}

TEST(Profile, AnN150DispatchesFromItsNinthRow) {
  const Profiles profiles = load_profiles({.profiles = {"wormhole_b0_n150"}});
  EXPECT_EQ(profiles.chip.name, "wormhole_b0_n150");
  EXPECT_EQ(profiles.chip.worker_grid, (CoreGrid{8, 8}));
  EXPECT_EQ(profiles.chip.dram_capacity, load_profiles().chip.dram_capacity);
}

TEST(Profile, TwoProfilesOfOneKindAreAnError) {
  EXPECT_THROW(load_profiles({.profiles = {"wormhole_b0_n150", "wormhole_b0_n300"}}), Error);
  EXPECT_NO_THROW(load_profiles({.profiles = {"wormhole_b0_n150", "tt_metal_2025_12"}}));
}

TEST(Profile, SettingsReplaceSingleConstantsOfEitherProfile) {
  const Profiles profiles = load_profiles(
      {.settings = {"dram.read.noc1=190GB/s", "host.finish=5 us", "noc.link=30B/cycle"}});
  EXPECT_EQ(profiles.chip.dram_read_noc1, Bandwidth(190'000'000'000));
  EXPECT_EQ(profiles.chip.noc_link, Bandwidth(30'000'000'000));
  EXPECT_EQ(profiles.software.host_finish, SimTime::microseconds(5));
  EXPECT_EQ(profiles.chip.name,
            "wormhole_b0_n300 with dram.read.noc1=190GB/s with noc.link=30B/cycle")
      << "a result says what it was made with";
}

TEST(Profile, BadSettingsAreErrors) {
  for (const char* const bad :
       {"dram.read.noc1", "dram.raed.noc1=190GB/s", "dram.read.noc1=190", "dram.read.noc1=fast",
        "dram.read.noc1=190us", "dram.read.noc1=", "=190GB/s", "host.finish=3cycles"}) {
    EXPECT_THROW(load_profiles({.settings = {bad}}), Error) << bad;
  }
  const ErrorText refusal =
      error_parts_of([&] { load_profiles({.settings = {"dram.raed.noc1=190GB/s"}}); });
  EXPECT_EQ(refusal.hint, "dram.read.noc1=...");
}

TEST(Profile, TheFastGeluTakesWhatBiasGeluTakesMoreThanAnAddition) {
  const Profiles profiles = load_profiles();
  const auto cycles = [&](Eltwise function) {
    const SimTime time = profiles.software.tiles.functions.at(static_cast<std::size_t>(function));
    return time.seconds() * static_cast<double>(profiles.chip.aiclk.value());
  };
  EXPECT_NEAR(cycles(Eltwise::gelu_approx) - cycles(Eltwise::identity),
              cycles(Eltwise::bias_gelu) - cycles(Eltwise::add), 10);
  EXPECT_GT(cycles(Eltwise::gelu), 10 * cycles(Eltwise::gelu_approx));
}

}  // namespace
}  // namespace howard::chip
