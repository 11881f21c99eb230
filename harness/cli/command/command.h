// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/cli/command/given.h"
#include "harness/cli/command/option.h"

namespace howard::cli {

class Ranks;

/// Holds a command that is about to be run: its options, bound to where their values go, and what
/// runs it then.
struct Invocation {
  OptionList options;
  /// Returns the exit status. Throws UsageError for a bad command line, and Error.
  std::function<int(const Given&, Ranks&)> run;
};

/// Makes the invocation of a command from its two functions: `declare` returns its options, bound
/// to the Settings that it is given, and `run` gets the same Settings and, if it asks for them,
/// what the command line gives and the processes of this run.
template <class Settings, class Run>
Invocation invocation(OptionList (*declare)(Settings&), Run run) {
  const auto settings = std::make_shared<Settings>();
  return {declare(*settings), [settings, run](const Given& given, Ranks& ranks) {
            if constexpr (std::is_invocable_v<Run, Settings&>) {
              return run(*settings);
            } else if constexpr (std::is_invocable_v<Run, Settings&, const Given&>) {
              return run(*settings, given);
            } else {
              return run(*settings, given, ranks);
            }
          }};
}
template <auto declare, auto run>
Invocation begin() {
  return invocation(declare, run);
}

/// Says how a command goes with several processes.
enum class Sharing : std::uint8_t {
  alone,   ///< It works in one process only.
  text,    ///< It prints what it knows and runs nothing; the first process does that.
  shared,  ///< All processes work on it.
};

/// Holds a line of a manual: a term and what it means. Without a term it is a paragraph.
struct ManualItem {
  std::string_view term;
  std::string_view text;
};

/// Holds a part of a manual beside the usual ones. Options of the same group are shown in it.
struct ManualPart {
  std::string_view title;
  std::vector<ManualItem> items{};
};

/// Declares a command, that is a word that may begin a command line instead of an experiment. All
/// texts call the program run_experiment.
struct Command {
  std::string_view name;
  std::string_view summary;             ///< One line: "store results in a database".
  std::vector<std::string_view> usage;  ///< What follows its name, for each form.
  std::vector<ManualItem> text;         ///< What it does.
  std::vector<std::string_view> examples;
  std::string_view status = "0 done; 1 an error; 2 bad command line";
  Invocation (*begin)();
  std::vector<ManualPart> parts{};  ///< They stand before the options, in this order.
  Sharing sharing = Sharing::alone;
};

/// Returns the commands in the order in which `list` shows them.
std::span<const Command* const> commands();

/// Returns null if `name` is not a command. Throws UsageError for a former name, with the present
/// one.
const Command* find_command(std::string_view name);

// Each is declared where it is run; commands.cpp has their list.
extern const Command kTrain, kFit, kGenerate, kExplain, kPython, kTune, kAnalyze, kLearn, kCompare,
    kTrack, kHistory, kSelftestGate, kReport, kCompletion, kMan, kList, kHelp, kVersion;

/// Runs experiments; its name is "".
extern const Command kRunCommand;

/// Returns all options of a command, with --help, for those who describe it.
OptionList options_of(const Command& command);

/// Reads the words after the command's name and runs it, or prints its help. Returns the exit
/// status. Throws UsageError and Error.
int run_command(const Command& command, std::span<const std::string> words, Ranks& ranks);

}  // namespace howard::cli
