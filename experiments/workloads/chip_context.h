// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/wormhole/profiles/profile.h"
#include "harness/result.h"

namespace howard::experiments {

/// Says in `context` which chip and software are emulated, and whether the published figures belong
/// to them.
inline void describe_chip(const wormhole::Profiles& profiles, harness::RunContext& context) {
  context.chip_profile = profiles.chip.name;
  context.software_profile = profiles.software.name;
  context.published_chip = wormhole::are_published(profiles);
}

}  // namespace howard::experiments
