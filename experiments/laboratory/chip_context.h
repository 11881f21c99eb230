// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>

#include "engines/chip/profiles/card.h"
#include "engines/chip/profiles/profile.h"
#include "harness/result.h"

namespace howard::experiments {

/// Copies the profiles of `choice` and their constants into `context`, the name of a card among the
/// settings of its chip, and whether the published figures belong to them. Throws the Errors of
/// chip::load_profiles().
inline void describe_chip(const chip::ProfileChoice& choice, harness::RunContext& context) {
  const chip::ProfileConstants constants = load_constants(choice);
  const chip::Profiles profiles = read_profiles(constants);
  const chip::ProfileConstants built =
      chip::load_constants({.profiles = choice.profiles, .settings = {}});
  context.chip = {built.chip.name(), {}};
  context.software = {built.software.name(), {}};
  for (const std::string& setting : choice.settings) {
    const bool of_chip = built.chip.contains(setting.substr(0, setting.find('=')));
    (of_chip ? context.chip : context.software).settings.push_back(setting);
  }
  if (constants.card != nullptr) {
    context.chip.settings.push_back(fmt::format("card={}", constants.card->name));
  }
  context.published_chip = chip::are_published(profiles);
  context.constants.clear();
  for (const chip::Constants* const part : {&constants.chip, &constants.software}) {
    for (const std::string& name : part->names()) {
      const chip::Constant& constant = part->at(name);
      context.constants.emplace_back(name, fmt::format("{} {}", constant.value, constant.unit));
    }
  }
}

}  // namespace howard::experiments
