// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/profile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "engines/wormhole/profiles.h"

namespace howard::wormhole {
namespace {

using nlohmann::json;

class ProfileFile : public ::testing::Test {
 protected:
  ~ProfileFile() override { std::filesystem::remove(path_); }

  /// The built-in chip profile, changed, as a file.
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
  for (const std::string_view name : {kDefaultChipProfile, kDefaultSoftwareProfile}) {
    for (const auto& [constant, entry] : json::parse(built_in_profile(name))["constants"].items()) {
      const auto source = entry["source"].get<std::string>();
      const bool known = source.starts_with("datasheet: ") || source.starts_with("unknown: ") ||
                         source.starts_with("published measurement: ") ||
                         source.starts_with("calibrated on ");
      EXPECT_TRUE(known) << constant << ": " << source;
    }
  }
}

TEST(Profile, PeakFollowsCoresFidelityAndClock) {
  ChipProfile chip = load_profiles().chip;
  EXPECT_DOUBLE_EQ(chip.peak_flops(1, MathFidelity::lofi), 4.096e12);
  EXPECT_DOUBLE_EQ(chip.peak_flops(56, MathFidelity::hifi2), 56 * 2.048e12);
  EXPECT_DOUBLE_EQ(chip.peak_flops(64, MathFidelity::hifi4), 64 * 1.024e12);
  chip.aiclk = Frequency(500'000'000);
  EXPECT_DOUBLE_EQ(chip.peak_flops(1, MathFidelity::lofi), 2.048e12);
}

TEST(Profile, DispatchDecidesTheComputeGrid) {
  const ChipProfile chip = load_profiles().chip;
  EXPECT_EQ(chip.compute_grid(DispatchCoreType::worker), (CoreGrid{8, 7}));
  EXPECT_EQ(chip.compute_grid(DispatchCoreType::eth), (CoreGrid{8, 8}));
}

TEST_F(ProfileFile, AFileReplacesTheBuiltInOne) {
  const std::string file =
      chip_with([](json& document) { document["constants"]["clock.aiclk"]["value"] = 500; });
  const Profiles profiles = load_profiles(file);
  EXPECT_EQ(profiles.chip.aiclk, Frequency(500'000'000));
  EXPECT_EQ(profiles.software.matmul_start, 2 * load_profiles().software.matmul_start)
      << "kernel costs are cycles of the chip's clock";
  EXPECT_EQ(profiles.software.host_op_call, load_profiles().software.host_op_call)
      << "the host has a clock of its own";
}

TEST_F(ProfileFile, AMissingConstantIsAnError) {
  EXPECT_THROW(load_profiles(chip_with([](json& d) { d["constants"].erase("noc.link"); })), Error);
}

TEST_F(ProfileFile, AWrongUnitIsAnError) {
  EXPECT_THROW(load_profiles(chip_with([](json& d) { d["constants"]["noc.link"]["unit"] = "ns"; })),
               Error);
}

TEST_F(ProfileFile, AnUnknownConstantIsAnError) {
  EXPECT_THROW(load_profiles(chip_with(
                   [](json& d) { d["constants"]["noc.lnik"] = d["constants"]["noc.link"]; })),
               Error);
}

TEST_F(ProfileFile, AMissingFileIsAnError) { EXPECT_THROW(load_profiles("/no/such/file"), Error); }

}  // namespace
}  // namespace howard::wormhole
