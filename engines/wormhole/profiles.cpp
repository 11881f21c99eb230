// SPDX-License-Identifier: Apache-2.0
#include "engines/wormhole/profiles.h"

#include "base/error.h"

namespace howard::wormhole {

// Compiled from profiles/*.json by the build.
extern const std::string_view kWormholeB0N300;
extern const std::string_view kTtMetal202512;

std::string_view built_in_profile(std::string_view name) {
  if (name == kDefaultChipProfile) return kWormholeB0N300;
  if (name == kDefaultSoftwareProfile) return kTtMetal202512;
  throw Error(
      {.attempted = "find a built-in profile",
       .value = "'" + std::string(name) + "'",
       .accepted = std::string(kDefaultChipProfile) + ", " + std::string(kDefaultSoftwareProfile),
       .hint = ""});
}

}  // namespace howard::wormhole
