// SPDX-License-Identifier: Apache-2.0
#include "experiments/meshes/chip_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"

namespace howard::experiments {
namespace {

constexpr int kBoards = 4;  // the remote chip of board n is n + 4

[[noreturn]] void reject(std::string_view value, std::string what) {
  throw Error({.attempted = "set axis devices",
               .value = fmt::format("'{}' {}", value, what),
               .accepted = "ids of chips of the box, 0 to 7, with + between them, each once",
               .hint = "-a devices=0+4"});
}

/// Parses "0+4". Throws Error for a word that is not a chip of the box, and for a chip named twice.
ChipSet parse_chips(std::string_view value) {
  ChipSet chips;
  for (const std::string& word : split(value, '+')) {
    const auto id = parse_integer(word);
    if (!id) reject(value, fmt::format("has '{}', which is no id", word));
    if (*id < 0 || *id >= kChips) reject(value, fmt::format("has chip {}, not on this box", *id));
    const int chip = static_cast<int>(*id);
    if (std::ranges::find(chips, chip) != chips.end()) {
      reject(value, fmt::format("has chip {} twice", chip));
    }
    chips.push_back(chip);
  }
  std::ranges::sort(chips);
  return chips;
}

}  // namespace

const TypedAxis<ChipSet> kDevices{
    .name = "devices",
    .meaning = "chips 0 to 7 joined by +: 0+4 for TT_VISIBLE_DEVICES=0,4; 4 to 7 are remote",
    .parse = parse_chips,
    .print = [](const ChipSet& chips) { return fmt::format("{}", fmt::join(chips, "+")); }};

bool is_remote(int chip) { return chip >= kBoards; }
int board_of(int chip) { return chip % kBoards; }
int mesh_of(int chip) { return board_of(chip) / 2; }

std::vector<ChipSet> split_by_mesh(const ChipSet& chips) {
  std::vector<ChipSet> meshes(2);
  for (const int chip : chips) meshes[static_cast<std::size_t>(mesh_of(chip))].push_back(chip);
  std::erase_if(meshes, [](const ChipSet& mesh) { return mesh.empty(); });
  return meshes;
}

int line_hops(const ChipSet& chips) {
  HOWARD_CHECK(split_by_mesh(chips).size() == 1, "only chips of one mesh are wired to each other");
  // Linked pairs share their board or their row; any three or four chips of a mesh are a line.
  const bool diagonal = chips.size() == 2 && board_of(chips[0]) != board_of(chips[1]) &&
                        is_remote(chips[0]) != is_remote(chips[1]);
  return diagonal ? 2 : static_cast<int>(chips.size()) - 1;
}

}  // namespace howard::experiments
