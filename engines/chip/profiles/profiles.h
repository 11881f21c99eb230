// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace howard::chip {

inline constexpr std::string_view kDefaultChipProfile = "wormhole_b0_n300";
inline constexpr std::string_view kDefaultSoftwareProfile = "tt_metal_2025_12";

/// Returns the software that is emulated on a chip of `architecture` when none is chosen.
std::string default_software(std::string_view architecture);

/// Returns the built-in profile of the version `name` of the software for `architecture`, or `name`
/// if there is no such pair. tt_metal_2025_12 is tt_metal_2025_12_blackhole on Blackhole.
std::string built_for(const std::string& name, std::string_view architecture);

/// Returns the names of the profiles that are compiled into the program (profiles/NAME.json).
std::vector<std::string> built_in_profiles();

/// Returns the JSON text of a built-in profile. Throws Error, with the known names, for an unknown
/// name.
std::string_view built_in_profile(std::string_view name);

}  // namespace howard::chip
