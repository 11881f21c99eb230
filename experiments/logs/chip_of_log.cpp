// SPDX-License-Identifier: Apache-2.0
#include "experiments/logs/chip_of_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/profiles/profiles.h"

namespace howard::experiments {
namespace {

struct LoggedBoard {
  std::string name, architecture;
  int cores = 0;
};

std::vector<LoggedBoard> logged_boards() {
  std::vector<LoggedBoard> found;
  for (const std::string& name : chip::built_in_profiles()) {
    if (chip::profile_kind(chip::built_in_profile(name), name) != "chip") continue;
    const chip::ChipProfile chip = chip::load_profiles({{name}, {}}).chip;
    const CoreGrid grid = chip.compute_grid(chip::DispatchCoreType::worker);
    found.push_back({name, chip.architecture, grid.cores()});
  }
  return found;
}

/// Returns the family of chips that the log names, or that its clock and its cores tell; empty if
/// it says nothing.
std::string family_of(const profiler::Log& log, int& cores) {
  std::string architecture;
  for (const profiler::LoggedRun& run : log.runs) {
    for (const profiler::LoggedDevice& device : run.devices) {
      if (architecture.empty()) architecture = device.architecture;
      cores = std::max(cores, device.worker_cores);
    }
  }
  return architecture;
}

/// Returns the board of that family with as many cores. Two boards of 110 cores differ in a bank of
/// DRAM, which no log tells; the one that has all banks stands for both. A log with other numbers
/// is of a chip whose grid was limited.
std::string board_with(const std::string& architecture, int cores) {
  std::string best;
  for (const LoggedBoard& board : logged_boards()) {
    if (board.architecture != architecture) continue;
    const bool is_p100a = board.name == "blackhole_p100a";
    if (board.cores == cores && !is_p100a) return board.name;
    if (best.empty() || board.name == "blackhole_p150") best = board.name;
  }
  return best;
}

/// Returns `choice` with a chip of the family `logged` if it names no chip and is of another one.
chip::ProfileChoice chosen_for(const std::string& logged, int cores,
                               const chip::ProfileChoice& choice) {
  const chip::ProfileConstants chosen = chip::load_constants({choice.profiles, {}});
  const std::string& architecture = chosen.chip.architecture();
  if (logged.empty() || logged == architecture) return choice;
  const std::vector<LoggedBoard> all = logged_boards();
  if (std::ranges::find(all, logged, &LoggedBoard::architecture) == all.end()) return choice;
  const bool is_default = chosen.chip.name() == chip::kDefaultChipProfile;
  const bool is_named =
      std::ranges::find(choice.profiles, chip::kDefaultChipProfile) != choice.profiles.end();
  if (!is_default || is_named || !choice.settings.empty()) {
    std::vector<std::string> names;
    for (const LoggedBoard& board : all) {
      if (board.architecture == logged) names.push_back(board.name);
    }
    throw Error({.attempted = "emulate the log on " + chosen.chip.name(),
                 .value = fmt::format("the log is of {}, and the chip is {}", logged, architecture),
                 .accepted = join(names, ", "),
                 .hint = "--chip " + board_with(logged, cores)});
  }
  chip::ProfileChoice own = choice;
  own.profiles.push_back(board_with(logged, cores));
  return own;
}

}  // namespace

chip::ProfileChoice choice_for(const profiler::Log& log, const chip::ProfileChoice& choice) {
  int cores = 0;
  const std::string logged = family_of(log, cores);
  return chosen_for(logged, cores, choice);
}

LogContent compare_on_its_chip(const std::string& file, chip::ProfileChoice& choice,
                               const profiler::ReadOptions& options) {
  const chip::Profiles first = chip::load_profiles(choice);
  LogContent content = read_log_content(file, &first, options);
  const auto* const comparison = std::get_if<profiler::SiliconComparison>(&content);
  if (comparison == nullptr || comparison->other_architecture.empty()) return content;
  const auto cores = static_cast<int>(std::min<std::int64_t>(comparison->other_cores, 1000));
  chip::ProfileChoice own = chosen_for(comparison->other_architecture, cores, choice);
  std::error_code ignored;  // what is read from a pipe cannot be read again
  if (!comparison->calls.empty() || !std::filesystem::is_regular_file(file, ignored)) {
    return content;
  }
  choice = std::move(own);
  const chip::Profiles profiles = chip::load_profiles(choice);
  return read_log_content(file, &profiles, options);
}

}  // namespace howard::experiments
