// SPDX-License-Identifier: Apache-2.0
#include "experiments/axes/machine_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string_view>

#include "base/input_file.h"
#include "base/json_node.h"
#include "base/text.h"
#include "engines/chip/profiles/profile.h"

namespace howard::experiments {
namespace {

/// Holds a machine with the texts that it names.
struct Described {
  std::string word, chip, chip_of;
  Machine machine;
};

/// A Galaxy is the largest machine that has one host's mesh.
constexpr int kMostChips = 32;

void require_known(const JsonNode& root) {
  constexpr std::array<std::string_view, 5> kMembers{"chip", "chips", "group", "ring",
                                                     "remote_chips"};
  for (const auto& [name, value] : root.members()) {
    if (std::ranges::find(kMembers, name) != kMembers.end()) continue;
    value.fail("chip, chips, group, ring and remote_chips: a machine has no other member");
  }
}

void read(const std::string& file, Described& described) {
  const std::string text = read_settings_file(file);
  const JsonDocument document(
      text, {.attempted = "read the machine " + file,
             .accepted = R"({"chip": "wormhole_b0_n300", "chips": 4, "group": 4})"});
  const JsonNode root = document.root();
  require_known(root);
  described.word = file;
  described.chip = root.member("chip").filled_text();
  described.chip_of = chip::load_profiles({{described.chip}, {}}).chip.architecture;
  const auto count = [&](std::string_view name, int otherwise, int most) {
    return root.has(name) ? static_cast<int>(root.member(name).integer(otherwise, most))
                          : otherwise;
  };
  Machine& machine = described.machine;
  machine.word = described.word;
  machine.chips = static_cast<int>(root.member("chips").integer(1, kMostChips));
  machine.group = count("group", 1, machine.chips);
  if (machine.chips % machine.group != 0) {
    root.member("group").fail(fmt::format("a divisor of the {} chips", machine.chips));
  }
  machine.ring = count("ring", 0, machine.chips);
  machine.has_remote_chips = root.has("remote_chips") && root.member("remote_chips").boolean();
  machine.chip_of = described.chip_of;
  machine.profiles = {described.chip};
}

}  // namespace

const Machine& machine_in(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, Described, std::less<>> read_before;
  const std::lock_guard lock(mutex);
  const auto found = read_before.find(file);
  if (found != read_before.end()) return found->second.machine;
  Described& described = read_before[file];
  try {
    read(file, described);
  } catch (...) {
    read_before.erase(file);
    throw;
  }
  return described.machine;
}

}  // namespace howard::experiments
