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

/// A family of chips of which a log has programs.
struct LoggedFamily {
  std::string architecture;
  int cores = 0;  ///< The most that a device of it has.
};

/// Returns the families of chips that the log names, or that its clocks and its cores tell, in the
/// order of its devices.
std::vector<LoggedFamily> families_of(const profiler::Log& log) {
  std::vector<LoggedFamily> families;
  const auto add = [&](std::string_view architecture, int cores) {
    if (architecture.empty()) return;
    auto known = std::ranges::find(families, architecture, &LoggedFamily::architecture);
    if (known == families.end()) {
      known = families.insert(families.end(), LoggedFamily{std::string(architecture)});
    }
    known->cores = std::max(known->cores, cores);
  };
  for (const profiler::LoggedRun& run : log.runs) {
    for (const profiler::LoggedDevice& device : run.devices) {
      add(device.architecture, device.worker_cores);
    }
  }
  // The rows of a device may name another chip than its first one.
  constexpr std::int64_t kMostCores = 1'000;
  for (std::uint32_t id = 1; id <= log.calls.size(); ++id) {
    const profiler::OpRow& row = log.calls.row(id);
    add(row.architecture,
        static_cast<int>(std::clamp<std::int64_t>(row.worker_cores.value_or(0), 0, kMostCores)));
  }
  return families;
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

/// Says whether the choice names no chip, so that the log may.
bool is_open(const chip::ProfileChoice& choice) {
  const auto is_chip = [](const std::string& one) { return chip::kind_of(one) == "chip"; };
  return choice.settings.empty() && std::ranges::none_of(choice.profiles, is_chip);
}

/// Returns `choice` with a chip of the family `logged` if it names no chip and is of another one.
chip::ProfileChoice chosen_for(const std::string& logged, int cores,
                               const chip::ProfileChoice& choice) {
  const chip::ProfileConstants chosen = chip::load_constants({choice.profiles, {}});
  const std::string& architecture = chosen.chip.architecture();
  if (logged.empty() || logged == architecture) return choice;
  const std::vector<LoggedBoard> all = logged_boards();
  if (std::ranges::find(all, logged, &LoggedBoard::architecture) == all.end()) return choice;
  if (!is_open(choice)) {
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
  const std::vector<LoggedFamily> families = families_of(log);
  if (families.empty()) return choice;
  const chip::ProfileConstants chosen = chip::load_constants({choice.profiles, {}});
  const auto own =
      std::ranges::find(families, chosen.chip.architecture(), &LoggedFamily::architecture);
  // Of a log of several families, one may be chosen.
  if (own != families.end() && !is_open(choice)) return choice;
  return chosen_for(families.front().architecture, families.front().cores, choice);
}

std::vector<chip::ProfileChoice> choices_for(const profiler::Log& log,
                                             const chip::ProfileChoice& choice) {
  std::vector<chip::ProfileChoice> choices{choice_for(log, choice)};
  if (!is_open(choice)) return choices;
  const std::vector<LoggedFamily> families = families_of(log);
  for (std::size_t i = 1; i < families.size(); ++i) {
    chip::ProfileChoice other = choice;
    const std::string board = board_with(families[i].architecture, families[i].cores);
    if (board.empty()) continue;  // no emulator is of it
    other.profiles.push_back(board);
    choices.push_back(std::move(other));
  }
  return choices;
}

LogContent compare_on_its_chip(const std::string& file, chip::ProfileChoice& choice,
                               const profiler::ReadOptions& options) {
  const chip::Profiles first = chip::load_profiles(choice);
  LogContent content = read_log_content(file, &first, options);
  const auto* const comparison = std::get_if<profiler::SiliconComparison>(&content);
  if (comparison == nullptr || comparison->other_architecture.empty()) return content;
  if (!comparison->calls.empty()) return content;
  const auto cores = static_cast<int>(std::min<std::int64_t>(comparison->other_cores, 1000));
  chip::ProfileChoice own = chosen_for(comparison->other_architecture, cores, choice);
  std::error_code ignored;  // what is read from a pipe cannot be read again
  if (!std::filesystem::is_regular_file(file, ignored)) return content;
  choice = std::move(own);
  const chip::Profiles profiles = chip::load_profiles(choice);
  return read_log_content(file, &profiles, options);
}

}  // namespace howard::experiments
