// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "harness/cli/command/command.h"
#include "harness/cli/command/manual.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/sharing/ranks.h"

namespace howard::cli {

namespace {

/// Names of former versions, and what says the same now.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kFormerNames{
    {{"train_nano_gpt", "train --preset nano_gpt"},
     {"bisect", "git bisect run, with compare --strict; see docs/tracking.md"}}};

}  // namespace

std::span<const Command* const> commands() {
  static constexpr std::array kCommands{
      &kTrain,   &kFit,        &kGenerate, &kExplain, &kPython,  &kTune,
      &kAnalyze, &kLearn,      &kCompare,  &kTrack,   &kHistory, &kSelftestGate,
      &kReport,  &kCompletion, &kMan,      &kList,    &kHelp,    &kVersion};
  return kCommands;
}

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  if (found != commands().end()) return *found;
  for (const auto& [former, present] : kFormerNames) {
    if (former == name) throw UsageError(fmt::format("{} is now {}", former, present));
  }
  return nullptr;
}

namespace {

void add_help(OptionList& options) {
  options.push_back({"-h", "", "Prints the most of this on a screen", asked()});
  options.push_back({"--help", "", "Prints this text", asked()});
}

}  // namespace

OptionList options_of(const Command& command) {
  OptionList options = command.begin().options;
  add_help(options);
  return options;
}

int run_command(const Command& command, std::span<const std::string> words, Ranks& ranks) {
  if (command.sharing == Sharing::alone && ranks.size() > 1) {
    throw UsageError(fmt::format("{} works in one process, not in {}: start it without mpirun",
                                 command.name, ranks.size()));
  }
  if (command.sharing != Sharing::shared && !ranks.is_first()) return kOk;
  Invocation invocation = command.begin();
  add_help(invocation.options);
  const Given given(invocation.options, words);
  given.take();
  const bool is_short = given.has("-h") && !given.has("--help");
  if ((is_short || given.has("--help")) && !command.name.empty()) {
    if (ranks.is_first()) fmt::print("{}", is_short ? short_help_of(command) : help_of(command));
    return kOk;
  }
  given.require_applicable();
  return invocation.run(given, ranks);
}

}  // namespace howard::cli
