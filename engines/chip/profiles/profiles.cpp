// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/profiles/profiles.h"

#include <array>

#include "base/error.h"
#include "base/text.h"

namespace howard::chip {

// The build generates these from profiles/*.json.
extern const std::string_view kWormholeB0N300;
extern const std::string_view kWormholeB0N150;
extern const std::string_view kTtMetal202512;
extern const std::string_view kTtMetal202607;
extern const std::string_view kTtnnFunctions202607;

namespace {

struct BuiltIn {
  std::string_view name;
  const std::string_view& text;
};

const std::array<BuiltIn, 4> kBuiltIns{{{kDefaultChipProfile, kWormholeB0N300},
                                        {"wormhole_b0_n150", kWormholeB0N150},
                                        {kDefaultSoftwareProfile, kTtMetal202512},
                                        {"tt_metal_2026_07", kTtMetal202607}}};

/// Parts are extended by profiles, but are not profiles themselves.
const std::array<BuiltIn, 1> kParts{{{"ttnn_functions_2026_07", kTtnnFunctions202607}}};

}  // namespace

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
