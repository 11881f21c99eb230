// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/axes/typed_axis.h"
#include "experiments/laboratory/devbox.h"
#include "harness/what_if.h"

namespace howard::experiments {

/// A board or a box of boards.
struct Machine {
  std::string_view word;
  int chips = 1;
  int group = 1;  ///< Chips that hold a model together unless they are asked otherwise.
  int ring = 0;   ///< Groups of as many chips and more are wired as a ring; 0: none is.
  int hosts = 1;  ///< Each drives its part of the chips.
  /// Every second chip is reached through the one beside it.
  bool has_remote_chips = false;
  std::string_view chip_of;  ///< Its chips are those of this architecture.
  /// The built-in profiles of its chips: what they are unless --chip says another of them.
  std::vector<std::string_view> profiles;
  bool is_usual = false;  ///< It is among the machines of a run for which none is named.
};
/// Returns all machines, by family and number of chips. Meshes, rings and groups are those of
/// tt-metal's mesh descriptors, tt_transformers' ccl_topology and tt-inference-server's releases of
/// August 2026.
const std::vector<Machine>& machines();
/// Says whether a word is no machine of the table but the file of one (machine_file.h).
bool is_machine_file(std::string_view word);
extern const TypedAxis<Machine> kMachine;

/// Returns the words of the machines that have the chips of `box`, the smallest first, or all of
/// the family if none has.
WordAxis::Words machines_of(const DevBox& box);

/// Returns the chip of a machine that has chips of another family than `box`, if nothing was said
/// of the latter: neither --chip, nor --software, nor a constant. It is emulated then.
std::optional<harness::EmulatedOn> own_chip(const DevBox& box, const Machine& machine);

/// Returns why a point with this machine is left out on `box`: --chip says another family of chips,
/// or a chip of another board; empty if it is not. The chip of the family's first profile,
/// wormhole_b0_n300 or blackhole_p150, stands for that of every machine. A file that extends no
/// profile is the chip of any, and so is that of a box that is not made of constants.
std::string missing_chips(const DevBox& box, const Machine& machine);

/// Returns the box with a chip that a machine chose.
std::shared_ptr<const DevBox> on(const DevBox& box, const harness::EmulatedOn& chip);

/// Returns the box with the chips of the machine, and with what the user set of them.
std::shared_ptr<const DevBox> box_of(const DevBox& box, const Machine& machine);

/// Returns the changes of a point to each larger machine. They are called "8 chips for the model"
/// or, if each chip does the point's work with values of its own, "8 chips, each with a batch".
enum class Chips : std::uint8_t { share_the_work, have_work_of_their_own };
std::vector<harness::WhatIf> larger_machines(const Machine& machine, Chips chips);

}  // namespace howard::experiments
