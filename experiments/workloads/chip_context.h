// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "engines/wormhole/profiles/profile.h"
#include "harness/result.h"

namespace howard::experiments {

/// Says in `context` which chip and software are emulated, with all their constants, and whether
/// the published figures belong to them. Throws the Errors of wormhole::load_profiles().
inline void describe_chip(const wormhole::ProfileChoice& choice, harness::RunContext& context) {
  const wormhole::ProfileConstants constants = load_constants(choice);
  const wormhole::Profiles profiles = read_profiles(constants);
  context.chip_profile = profiles.chip.name;
  context.software_profile = profiles.software.name;
  context.published_chip = wormhole::are_published(profiles);
  context.constants.clear();
  for (const wormhole::Constants* const part : {&constants.chip, &constants.software}) {
    for (const std::string& name : part->names()) {
      const wormhole::Constant& constant = part->at(name);
      context.constants.emplace_back(name, fmt::format("{} {}", constant.value, constant.unit));
    }
  }
}

}  // namespace howard::experiments
