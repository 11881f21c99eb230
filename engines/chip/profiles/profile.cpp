// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/profiles/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "base/usual_names.h"
#include "engines/chip/profiles/card.h"
#include "engines/chip/profiles/choice_text.h"
#include "engines/chip/profiles/contradictions.h"
#include "engines/chip/profiles/profiles.h"

namespace howard::chip {
namespace {

/// Fills the members of a struct from their constants. `clock` is the chip's, because dispatch
/// kernels, firmware and compute kernels cost cycles of the chip's cores.
class Reader {
 public:
  Reader(Constants& constants, Frequency clock) : constants_(constants), clock_(clock) {}

  void operator()(std::string_view name, SimTime& value) { value = constants_.time(name, clock_); }
  void operator()(std::string_view name, Bandwidth& value) {
    value = constants_.bandwidth(name, clock_);
  }
  void operator()(std::string_view name, Bytes& value) { value = constants_.bytes(name); }
  void operator()(std::string_view name, bool& value) { value = constants_.flag(name); }
  void operator()(std::string_view name, int& value) { value = constants_.count(name); }
  void operator()(std::string_view name, std::int64_t& value) { value = constants_.part(name); }

  void count(std::string_view name, std::int64_t& value) { value = constants_.count(name); }
  void power(std::string_view name, std::int64_t& value) { value = constants_.power(name); }
  /// The host's time does not follow the chip's clock.
  void host_time(std::string_view name, SimTime& value) { value = constants_.time(name); }
  void share_of_dram(std::string_view name, Bandwidth& value) {
    value = constants_.share(name, "dram.bandwidth", clock_);
  }

 private:
  Constants& constants_;
  Frequency clock_;
};

ChipProfile read_chip(Constants constants) {
  ChipProfile chip{.name = constants.name(),
                   .architecture = constants.architecture(),
                   .aiclk = constants.frequency("clock.aiclk")};
  Reader read(constants, chip.aiclk);
  chip.constants(read);
  chip.worker_grid = chip.tensix;
  --(chip.dispatch_takes_row ? chip.worker_grid.rows : chip.worker_grid.columns);
  chip.eth_grid.columns = chip.tensix.columns;
  constants.require_all_read();
  if (chip.architecture.empty()) {
    throw Error({.attempted = "read the profile " + chip.name,
                 .value = "it has no \"architecture\"",
                 .accepted = "what tt-metal's logs call the chip",
                 .hint = "\"architecture\": \"wormhole_b0\""});
  }
  return chip;
}

SoftwareProfile read_software(Constants constants, Frequency clock) {
  SoftwareProfile software{.name = constants.name(), .architecture = constants.architecture()};
  Reader read(constants, clock);
  software.constants(read);
  software.dispatch.constants(read);
  software.tiles.constants(read);
  software.movement.constants(read);
  software.convolution.constants(read);
  software.attention.constants(read);
  software.choice.constants(read);
  software.collectives.constants(read);
  software.script.constants(read);
  for (const EltwiseEntry& entry : eltwise_catalogue()) {
    software.tiles.functions.at(static_cast<std::size_t>(entry.function)) =
        constants.time(fmt::format("tiles.{}", entry.cost), clock);
  }
  constants.require_all_read();
  return software;
}

/// Returns "--chip NAME" for a built-in profile of a chip, "--software NAME" for one of software.
std::string option_text(const std::string& name) {
  return fmt::format("--{} {}", profile_kind(built_in_profile(name), name), name);
}

bool is_file(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::exists(name, ignored);
}

/// Returns the built-in profile of a card's chip, "wormhole_b0_n300" for "n300d", or of the usual
/// chip of a family, "blackhole"; other names as they are.
std::string named(const std::string& name_or_card) {
  const std::string small = lower_case(name_or_card);
  if (small == "blackhole") return "blackhole_p150";
  if (small == "wormhole" || small == "wormhole_b0") return std::string(kDefaultChipProfile);
  if (!small.starts_with('n') && !small.starts_with('p')) return name_or_card;
  std::vector<std::string_view> cards = other_names(small);
  cards.push_back(small);
  for (const std::string& profile : built_in_profiles()) {
    for (const std::string_view card : cards) {
      if (profile.ends_with(fmt::format("_{}", card)) &&
          profile_kind(built_in_profile(profile), profile) == "chip")
        return profile;
    }
  }
  return name_or_card;
}

/// Returns the text of a built-in profile if there is one of that name, otherwise that of a file. A
/// version of the software that only Blackhole has is of Blackhole.
std::string profile_text(const std::string& name_or_file) {
  const std::vector<std::string> built_in = built_in_profiles();
  for (const std::string& name : {named(name_or_file), built_for(name_or_file, "blackhole")}) {
    if (std::ranges::find(built_in, name) != built_in.end()) {
      return std::string(built_in_profile(name));
    }
  }
  if (!is_file(name_or_file)) {
    if (name_or_file.find(',') != std::string::npos) {
      throw Error({.attempted = fmt::format("read profile '{}'", name_or_file),
                   .value = "several chips",
                   .accepted = "one chip; several make an axis of experiments alone",
                   .hint = "a run for each"});
    }
    std::vector<std::string> names = built_in;
    for (const std::string& name : built_in) {
      if (profile_kind(built_in_profile(name), name) == "chip") {
        names.push_back(name.substr(name.rfind('_') + 1));
      }
    }
    const auto suggestion = closest(name_or_file, names);
    throw Error({.attempted = fmt::format("read profile '{}'", name_or_file),
                 .value = "No such file or directory",
                 .accepted = join(built_in, ", ") + ", or a JSON file",
                 .hint = suggestion ? option_text(named(*suggestion)) : ""});
  }
  return read_settings_file(name_or_file);
}

/// Returns the profile of `kind` among those chosen; absent if there is none.
std::optional<std::string> chosen_of(const std::vector<std::string>& chosen,
                                     std::string_view kind) {
  std::optional<std::string> found;
  for (const std::string& candidate : chosen) {
    if (kind_of(candidate) != kind) continue;
    if (found) {
      throw Error({.attempted = fmt::format("choose the {} profile", kind),
                   .value = *found + " and " + candidate,
                   .accepted = "one of them"});
    }
    found = named(candidate);
  }
  return found;
}

/// Loads the profile of `kind` among those chosen, or the default.
Constants load(const std::vector<std::string>& chosen, std::string_view kind,
               std::string_view default_name) {
  const std::string origin = chosen_of(chosen, kind).value_or(std::string(default_name));
  return Constants::parse(profile_text(origin), origin, kind);
}

}  // namespace

std::string kind_of(const std::string& name_or_file) {
  // Each choice asks this of each of its profiles; a card of thousands of kernels is parsed once.
  static std::mutex mutex;
  static std::map<std::string, std::string> kinds;
  std::string text = profile_text(name_or_file);
  const std::lock_guard lock(mutex);
  const auto known = kinds.find(text);
  if (known != kinds.end()) return known->second;
  std::string kind = profile_kind(text, name_or_file);
  return kinds.emplace(std::move(text), std::move(kind)).first->second;
}

std::string_view name_of(DispatchCoreType type) {
  return type == DispatchCoreType::worker ? "WORKER" : "ETH";
}

CoreGrid ChipProfile::compute_grid(DispatchCoreType type) const {
  return type == DispatchCoreType::worker ? worker_grid : eth_grid;
}

std::optional<std::string> ChipProfile::objection(DispatchCoreType type) const {
  if (type == DispatchCoreType::worker || eth_dispatch) return std::nullopt;
  return fmt::format("{} has no ethernet cores that could dispatch (grid.eth_dispatch is 0)", name);
}

SimTime ChipProfile::tile_pass() const {
  constexpr double kFlops = 2.0 * kTileSide * kTileSide * kTileSide;
  return SimTime::picoseconds(
      std::llround(kFlops * 1e12 / static_cast<double>(matrix_flops_per_cycle) /
                   static_cast<double>(aiclk.value())));
}

double ChipProfile::peak_flops(int cores, MathFidelity fidelity) const {
  return static_cast<double>(cores) * static_cast<double>(matrix_flops_per_cycle) /
         static_cast<double>(fidelity) * static_cast<double>(aiclk.value());
}

int SoftwareProfile::issue_entries(DispatchCoreType type) const {
  return type == DispatchCoreType::worker ? issue_entries_worker : issue_entries_eth;
}

void set_constant(ProfileConstants& constants, const std::string& setting) {
  auto& [chip, software, card] = constants;
  if (card != nullptr) {
    throw Error({.attempted = "set a constant",
                 .value = fmt::format("'{}' beside card {}", setting, card->name),
                 .accepted = "constants of the emulator alone: what a card measured follows none",
                 .hint = "one of the two"});
  }
  const std::size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  Constants* const owner =
      chip.contains(name) ? &chip : (software.contains(name) ? &software : nullptr);
  if (owner == nullptr || equals == std::string::npos) {
    std::vector<std::string> names = chip.names();
    for (std::string& other : software.names()) names.push_back(std::move(other));
    std::vector<std::string> below;  // "dram.read" is the beginning of several
    std::ranges::copy_if(names, std::back_inserter(below),
                         [&](const std::string& known) { return known.starts_with(name + "."); });
    const auto suggestion = closest(name, names);
    const std::string_view renamed = renamed_constant(name);
    throw Error({.attempted = "set a constant",
                 .value = "'" + setting + "'",
                 .accepted = "NAME=QUANTITY, NAME being a constant of the profiles",
                 .hint = !renamed.empty() ? fmt::format("{}=..., as it is called now", renamed)
                         : !below.empty() ? join(below, "=... or ") + "=..."
                         : suggestion     ? *suggestion + "=..."
                                          : "noc.link=30B/cycle"});
  }
  const std::string quantity = setting.substr(equals + 1);
  if (quantity.find(',') != std::string::npos || quantity.find("..") != std::string::npos) {
    throw Error({.attempted = "set constant " + name,
                 .value = "'" + quantity + "'",
                 .accepted = "one quantity; several make an axis of experiments alone",
                 .hint = "a run for each"});
  }
  owner->set(name, quantity);
}

std::string options_text(const ProfileChoice& choice) {
  std::string text;
  for (const std::string& profile : choice.profiles) {
    text += fmt::format(" --{} {}", kind_of(profile), shell_word(profile));
  }
  for (const std::string& setting : choice.settings) text += " --set " + shell_word(setting);
  return text;
}

std::vector<ProfileChoice> each_chip(const ProfileChoice& choice) {
  for (std::size_t i = 0; i < choice.profiles.size(); ++i) {
    const std::string& names = choice.profiles[i];
    if (names.find(',') == std::string::npos || is_file(names)) continue;
    std::vector<ProfileChoice> choices;
    for (const std::string& name : split(names, ',')) {
      choices.push_back(choice);
      choices.back().profiles[i] = named(name);
    }
    return choices;
  }
  return {choice};
}

namespace {

/// Throws Error if the card is of another chip or software than `constants`.
void require_its_own(const Card& card, const ProfileConstants& constants) {
  const auto require = [&](const std::string& own, const std::string& chosen,
                           std::string_view option) {
    if (own == chosen) return;
    throw Error({.attempted = "emulate " + chosen,
                 .value = fmt::format("the times of card {} are of {}", card.name, own),
                 .accepted = "a card with its own chip and software",
                 .hint = fmt::format("--{} {}", option, own)});
  };
  require(card.chip, constants.chip.name(), "chip");
  require(card.software, constants.software.name(), "software");
}

}  // namespace

ProfileConstants load_constants(const ProfileChoice& choice) {
  const std::optional<std::string> file = chosen_of(choice.profiles, "card");
  const Card* const card = file ? &kept_card(profile_text(*file), *file) : nullptr;
  Constants chip = load(choice.profiles, "chip",
                        card != nullptr ? card->chip : std::string(kDefaultChipProfile));
  std::vector<std::string> profiles = choice.profiles;
  for (std::string& name : profiles) name = built_for(name, chip.architecture());
  const std::string software =
      card != nullptr ? card->software : default_software(chip.architecture());
  ProfileConstants constants{chip, load(profiles, "software", software), card};
  if (card != nullptr) require_its_own(*card, constants);
  for (const std::string& setting : choice.settings) set_constant(constants, setting);
  return constants;
}

namespace {

void require_one_architecture(const ProfileConstants& constants) {
  const std::string& chip = constants.chip.architecture();
  const std::string& software = constants.software.architecture();
  if (software.empty() || chip.empty() || software == chip) return;
  throw Error({.attempted = "emulate " + constants.chip.name(),
               .value = fmt::format("{} has the constants of kernels for {}, and the chip is {}",
                                    constants.software.name(), software, chip),
               .accepted = "a chip and software of one architecture",
               .hint = fmt::format("--software {}", default_software(chip))});
}

}  // namespace

Profiles read_profiles(const ProfileConstants& constants) {
  require_one_architecture(constants);
  Profiles profiles;
  profiles.chip = read_chip(constants.chip);
  profiles.software = read_software(constants.software, profiles.chip.aiclk);
  const SoftwareProfile& software = profiles.software;
  Bytes& l1 = profiles.chip.l1_circular_buffers;
  l1 = l1 - software.l1_firmware - software.dispatch.configuration_ring;
  require_no_contradiction(constants, profiles);
  profiles.card = constants.card;
  return profiles;
}

Profiles load_profiles(const ProfileChoice& choice) {
  return read_profiles(load_constants(choice));
}

bool are_published(const Profiles& profiles) {
  if (profiles.card != nullptr) return false;
  Profiles published = load_profiles();
  published.chip.name = profiles.chip.name;
  published.software.name = profiles.software.name;
  published.software.script = profiles.software.script;  // No published point runs a script.
  return profiles.chip == published.chip && profiles.software == published.software;
}

}  // namespace howard::chip
