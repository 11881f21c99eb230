// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace howard::wormhole {

inline constexpr std::string_view kDefaultChipProfile = "wormhole_b0_n300";
inline constexpr std::string_view kDefaultSoftwareProfile = "tt_metal_2025_12";

/// The JSON text of a profile compiled into the program (profiles/NAME.json).
/// Error for an unknown name, with the known ones.
std::string_view built_in_profile(std::string_view name);

}  // namespace howard::wormhole
