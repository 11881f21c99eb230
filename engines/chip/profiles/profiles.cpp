// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/profiles/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"

namespace howard::chip {

// The build generates these from profiles/*.json.
extern const std::string_view kWormholeB0N300;
extern const std::string_view kWormholeB0N150;
extern const std::string_view kWormholeB0Galaxy;
extern const std::string_view kBlackholeP100a;
extern const std::string_view kBlackholeP150;
extern const std::string_view kBlackholeP150Of120;
extern const std::string_view kBlackholeP150Of2025;
extern const std::string_view kBlackholeP300;
extern const std::string_view kBlackholeGalaxy;
extern const std::string_view kTtMetal202511Blackhole;
extern const std::string_view kTtMetal202512Blackhole;
extern const std::string_view kTtMetal202607Blackhole;
extern const std::string_view kTtnnFunctions202607Blackhole;
extern const std::string_view kTtMetal202512;
extern const std::string_view kTtMetal202607;
extern const std::string_view kTtnnFunctions202607;

namespace {

struct BuiltIn {
  std::string_view name;
  const std::string_view& text;
};

const std::array<BuiltIn, 14> kBuiltIns{{{kDefaultChipProfile, kWormholeB0N300},
                                         {"wormhole_b0_n150", kWormholeB0N150},
                                         {"wormhole_b0_galaxy", kWormholeB0Galaxy},
                                         {"blackhole_p100a", kBlackholeP100a},
                                         {"blackhole_p150", kBlackholeP150},
                                         {"blackhole_p150_120", kBlackholeP150Of120},
                                         {"blackhole_p150_2025", kBlackholeP150Of2025},
                                         {"blackhole_p300", kBlackholeP300},
                                         {"blackhole_galaxy", kBlackholeGalaxy},
                                         {kDefaultSoftwareProfile, kTtMetal202512},
                                         {"tt_metal_2026_07", kTtMetal202607},
                                         {"tt_metal_2025_11_blackhole", kTtMetal202511Blackhole},
                                         {"tt_metal_2025_12_blackhole", kTtMetal202512Blackhole},
                                         {"tt_metal_2026_07_blackhole", kTtMetal202607Blackhole}}};

/// Parts are extended by profiles, but are not profiles themselves.
const std::array<BuiltIn, 2> kParts{
    {{"ttnn_functions_2026_07", kTtnnFunctions202607},
     {"ttnn_functions_2026_07_blackhole", kTtnnFunctions202607Blackhole}}};

}  // namespace

std::string built_for(const std::string& name, std::string_view architecture) {
  const std::string own = fmt::format("{}_{}", name, architecture);
  const auto is_own = [&](const BuiltIn& profile) { return profile.name == own; };
  return std::ranges::any_of(kBuiltIns, is_own) ? own : name;
}

std::string default_software(std::string_view architecture) {
  return built_for(std::string(kDefaultSoftwareProfile), architecture);
}

std::vector<std::string> built_in_profiles() {
  std::vector<std::string> names;
  for (const BuiltIn& profile : kBuiltIns) names.emplace_back(profile.name);
  return names;
}

std::string_view built_in_profile(std::string_view name) {
  for (const BuiltIn& profile : kBuiltIns) {
    if (profile.name == name) return profile.text;
  }
  for (const BuiltIn& part : kParts) {
    if (part.name == name) return part.text;
  }
  const std::vector<std::string> names = built_in_profiles();
  const auto suggestion = closest(name, names);
  throw Error({.attempted = "find a built-in profile",
               .value = "'" + std::string(name) + "'",
               .accepted = join(names, ", "),
               .hint = suggestion.value_or("")});
}

}  // namespace howard::chip
