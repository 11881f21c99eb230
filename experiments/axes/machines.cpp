// SPDX-License-Identifier: Apache-2.0
#include "experiments/axes/machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "engines/chip/profiles/profiles.h"
#include "experiments/axes/machine_file.h"

namespace howard::experiments {
namespace {

TypedAxis<Machine> machine_axis() {
  std::vector<std::pair<std::string, std::string>> words;
  for (const Machine& machine : machines()) {
    words.emplace_back(std::string(machine.word), std::string(machine.word));
  }
  const auto word = choice_axis<std::string>(
      "machine", "cards and boxes of one to 128 chips, or FILE.json of one's own", words);
  return {.name = word.name,
          .meaning = word.meaning,
          .parse =
              [word](std::string_view text) {
                if (is_machine_file(text)) return machine_in(std::string(text));
                return *std::ranges::find(machines(), word.parse(text), &Machine::word);
              },
          .print = [](const Machine& machine) { return std::string(machine.word); },
          .choices = word.choices};
}

bool has(const Machine& machine, std::string_view chip) {
  return std::ranges::find(machine.profiles, chip) != machine.profiles.end();
}

/// Says whether the chip is the one that is emulated where nobody chooses among a family's.
bool stands_for_all(std::string_view chip) {
  return chip == chip::kDefaultChipProfile || chip == "blackhole_p150";
}

std::vector<Machine> of_wormhole() {
  static constexpr std::string_view kWormhole = "wormhole_b0";
  const std::vector<std::string_view> n150{"wormhole_b0_n150"}, n300{"wormhole_b0_n300"};
  const std::vector<std::string_view> wormhole_galaxy{"wormhole_b0_galaxy"};
  return {
      {.word = "n150", .chip_of = kWormhole, .profiles = n150, .is_usual = true},
      {.word = "n300",
       .chips = 2,
       .group = 2,
       .has_remote_chips = true,
       .chip_of = kWormhole,
       .profiles = n300,
       .is_usual = true},
      {.word = "n150x4", .chips = 4, .chip_of = kWormhole, .profiles = n150},
      {.word = "t3k",
       .chips = 8,
       .group = 8,
       .ring = 8,
       .has_remote_chips = true,
       .chip_of = kWormhole,
       .profiles = n300,
       .is_usual = true},
      {.word = "galaxy_t3k",
       .chips = 8,
       .group = 8,
       .ring = 8,
       .chip_of = kWormhole,
       .profiles = wormhole_galaxy},
      {.word = "galaxy",
       .chips = 32,
       .group = 8,
       .ring = 8,
       .chip_of = kWormhole,
       .profiles = wormhole_galaxy},
      {.word = "dual_galaxy",
       .chips = 64,
       .group = 8,
       .ring = 8,
       .hosts = 2,
       .chip_of = kWormhole,
       .profiles = wormhole_galaxy},
      {.word = "quad_galaxy",
       .chips = 128,
       .group = 8,
       .ring = 8,
       .hosts = 4,
       .chip_of = kWormhole,
       .profiles = wormhole_galaxy},
  };
}

std::vector<Machine> of_blackhole() {
  static constexpr std::string_view kBlackhole = "blackhole";
  const std::vector<std::string_view> p150{"blackhole_p150", "blackhole_p150_120",
                                           "blackhole_p150_2025"};
  const std::vector<std::string_view> p300{"blackhole_p300"};
  const std::vector<std::string_view> blackhole_galaxy{"blackhole_galaxy"};
  return {
      {.word = "p150", .chip_of = kBlackhole, .profiles = p150, .is_usual = true},
      {.word = "p100a", .chip_of = kBlackhole, .profiles = {"blackhole_p100a"}, .is_usual = true},
      {.word = "p300",
       .chips = 2,
       .group = 2,
       .has_remote_chips = true,
       .chip_of = kBlackhole,
       .profiles = p300,
       .is_usual = true},
      {.word = "p150x2", .chips = 2, .group = 2, .chip_of = kBlackhole, .profiles = p150},
      {.word = "p150x4",
       .chips = 4,
       .group = 4,
       .ring = 4,
       .chip_of = kBlackhole,
       .profiles = p150},
      {.word = "p300x2",
       .chips = 4,
       .group = 4,
       .ring = 4,
       .has_remote_chips = true,
       .chip_of = kBlackhole,
       .profiles = p300},
      {.word = "p150x8",
       .chips = 8,
       .group = 8,
       .ring = 8,
       .chip_of = kBlackhole,
       .profiles = p150},
      {.word = "bh_galaxy",
       .chips = 32,
       .group = 8,
       .ring = 8,
       .chip_of = kBlackhole,
       .profiles = blackhole_galaxy},
  };
}

}  // namespace

const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = [] {
    std::vector<Machine> both = of_wormhole();
    std::ranges::copy(of_blackhole(), std::back_inserter(both));
    return both;
  }();
  return all;
}

bool is_machine_file(std::string_view word) { return word.ends_with(".json"); }

const TypedAxis<Machine> kMachine = machine_axis();

WordAxis::Words machines_of(const DevBox& box) {
  WordAxis::Words with_chips, of_family;
  for (const Machine& machine : machines()) {
    if (!machine.is_usual || machine.chip_of != box.profiles().chip.architecture) continue;
    of_family.emplace_back(machine.word);
    if (missing_chips(box, machine).empty()) with_chips.emplace_back(machine.word);
  }
  return with_chips.empty() ? of_family : with_chips;
}

std::optional<harness::EmulatedOn> own_chip(const DevBox& box, const Machine& machine) {
  const bool chooses = machine.chip_of != box.profiles().chip.architecture && box.has_constants() &&
                       box.constants().chip.built_in() == chip::kDefaultChipProfile &&
                       chip::are_published(box.profiles());
  if (!chooses) return std::nullopt;
  const std::string chip(machine.profiles.front());
  return harness::EmulatedOn{.chip = {chip}, .software = {chip::default_software(machine.chip_of)}};
}

std::string missing_chips(const DevBox& box, const Machine& machine) {
  if (own_chip(box, machine)) return {};
  const std::string& family = box.profiles().chip.architecture;
  if (machine.chip_of != family) {
    return fmt::format("a machine {} has no {} chips, which --chip or --card says", machine.word,
                       family);
  }
  const std::string chip = box.has_constants() ? box.constants().chip.built_in() : "";
  if (chip.empty() || stands_for_all(chip) || has(machine, chip)) return {};
  return fmt::format("a machine {} has no chip {}, which --chip or --card says", machine.word,
                     chip);
}

std::shared_ptr<const DevBox> on(const DevBox& box, const harness::EmulatedOn& chip) {
  return box.with(chip::load_constants({{chip.chip.profile, chip.software.profile}, {}}));
}

std::shared_ptr<const DevBox> box_of(const DevBox& box, const Machine& machine) {
  if (!box.has_constants()) return box.with(box.profiles());
  if (const auto own = own_chip(box, machine)) return on(box, *own);
  chip::ProfileConstants constants = box.constants();
  const std::string chip = constants.chip.built_in();
  if (!chip.empty() && !has(machine, chip)) {
    const std::string own(machine.profiles.front());
    constants.chip.rebase(chip::load_constants({{chip}, {}}).chip,
                          chip::load_constants({{own}, {}}).chip);
  }
  return box.with(constants);
}

std::vector<harness::WhatIf> larger_machines(const Machine& machine, Chips chips) {
  const bool more_work = chips == Chips::have_work_of_their_own;
  std::vector<harness::WhatIf> changes;
  int chips_before = machine.chips;
  for (const Machine& larger : machines()) {
    // Of machines of one size the first stands for all, and only groups of all share a model.
    if (larger.chip_of != machine.chip_of || larger.chips <= chips_before) continue;
    if (larger.hosts > 1) continue;
    if (!more_work && larger.group < larger.chips) continue;
    chips_before = larger.chips;
    changes.push_back({.what = fmt::format("{} chips{}", larger.chips,
                                           more_work ? ", each with a batch" : " for the model"),
                       .candidates = {{kMachine.at(larger)}},
                       .reason = {},
                       .work = more_work ? 1.0 * larger.chips / machine.chips : 1});
  }
  return changes;
}

}  // namespace howard::experiments
