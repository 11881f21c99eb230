// SPDX-License-Identifier: Apache-2.0
#include "experiments/axes/machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace howard::experiments {
namespace {

TypedAxis<Machine> machine_axis() {
  std::vector<std::pair<std::string, std::string>> words;
  for (const Machine& machine : machines()) {
    words.emplace_back(std::string(machine.word), std::string(machine.word));
  }
  const auto word = choice_axis<std::string>("machine", "cards of one, two and eight chips", words);
  return {.name = word.name,
          .meaning = word.meaning,
          .parse =
              [word](std::string_view text) {
                return *std::ranges::find(machines(), word.parse(text), &Machine::word);
              },
          .print = [](const Machine& machine) { return std::string(machine.word); },
          .choices = word.choices};
}

}  // namespace

const std::vector<Machine>& machines() {
  static const std::vector<Machine> all{
      {"n150", 1, false, "wormhole_b0"}, {"n300", 2, false, "wormhole_b0"},
      {"t3k", 8, true, "wormhole_b0"},   {"p150", 1, false, "blackhole"},
      {"p100a", 1, false, "blackhole"},  {"p300", 2, false, "blackhole"},
  };
  return all;
}

const TypedAxis<Machine> kMachine = machine_axis();

WordAxis::Words machines_of(const std::string& architecture) {
  WordAxis::Words words;
  for (const Machine& machine : machines()) {
    if (machine.chip_of == architecture) words.emplace_back(machine.word);
  }
  return words;
}

std::string missing_chips(const DevBox& box, const Machine& machine) {
  const std::string& chip = box.profiles().chip.architecture;
  if (machine.chip_of == chip) return {};
  return fmt::format("a machine {} has no {} chips, which --chip says", machine.word, chip);
}

std::shared_ptr<const DevBox> box_of(const DevBox& box, const Machine& machine) {
  chip::Profiles profiles = box.profiles();
  // The chip of an N150 has a row more than each of an N300.
  constexpr int kRowsOfN150 = 9;
  if (machine.word == "n150" && profiles.chip.name == "wormhole_b0_n300" &&
      profiles.chip.tensix.rows == kRowsOfN150 - 1) {
    ++profiles.chip.tensix.rows;
    ++profiles.chip.worker_grid.rows;
  }
  return box.with(profiles);
}

std::vector<harness::WhatIf> larger_machines(const Machine& machine, Chips chips) {
  const bool more_work = chips == Chips::have_work_of_their_own;
  std::vector<harness::WhatIf> changes;
  for (const Machine& larger : machines()) {
    if (larger.chip_of != machine.chip_of || larger.chips <= machine.chips) continue;
    changes.push_back({.what = fmt::format("{} chips{}", larger.chips,
                                           more_work ? ", each with a batch" : " for the model"),
                       .candidates = {{kMachine.at(larger)}},
                       .reason = {},
                       .work = more_work ? 1.0 * larger.chips / machine.chips : 1});
  }
  return changes;
}

}  // namespace howard::experiments
