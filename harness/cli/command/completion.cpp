// SPDX-License-Identifier: Apache-2.0
//
// `completion SHELL` prints the script that makes a shell complete command lines of this program.
// The scripts call `completion words WORD...`. It prints what the last word, which may be empty or
// unfinished, can become, one a line, with its meaning after a tab. If it prints nothing, the word
// is a file or can be anything.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/chip/profiles/profile.h"
#include "engines/chip/profiles/profiles.h"
#include "experiments/laboratory/laboratory.h"
#include "experiments/questions/explain_question.h"
#include "experiments/questions/tuning.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/known.h"
#include "harness/cli/command/program.h"
#include "harness/cli/exit_status.h"

namespace howard::cli {

// The build compiles these in: the scripts that ask for words.
extern const std::string_view kBashCompletion, kZshCompletion, kFishCompletion;

namespace {

/// Holds a word with which a command line can go on, and its meaning.
struct Candidate {
  std::string word;
  std::string meaning{};
};
using Candidates = std::vector<Candidate>;

/// Holds a command line that is not finished.
struct BegunLine {
  const Command* command = &kRunCommand;
  OptionList options;
  std::vector<std::string> names;    ///< The words that belong to no option, without the command.
  const Option* awaiting = nullptr;  ///< The option to which the last word is the value.
  std::string prefix;                ///< What comes before that value in its word: "--backend=".
  std::string begun;                 ///< The value or word so far.
};

/// Reads the words after the program's name. The last one is not finished.
BegunLine read(std::vector<std::string> words) {
  BegunLine line;
  line.begun = std::move(words.back());
  words.pop_back();
  const auto found = words.empty() ? commands().end()
                                   : std::ranges::find(commands(), words.front(), &Command::name);
  if (found != commands().end()) line.command = *found;
  line.options = options_of(*line.command);
  for (std::size_t i = found != commands().end() ? 1 : 0; i < words.size(); ++i) {
    const Option* const option = find_option(line.options, words[i]);
    if (option == nullptr && !words[i].starts_with('-')) line.names.push_back(words[i]);
    if (option == nullptr || !option->takes_word()) continue;
    if (++i == words.size()) line.awaiting = option;
  }
  const std::size_t equals = line.begun.find('=');
  if (line.awaiting == nullptr && line.begun.starts_with("--") && equals != std::string::npos) {
    line.awaiting = find_option(line.options, line.begun.substr(0, equals));
    line.prefix = line.begun.substr(0, equals + 1);
    line.begun.erase(0, equals + 1);
  }
  return line;
}

/// Returns the beginning of a text, for the line of a menu.
std::string shortened(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  if (text.size() <= kLongest) return std::string(text);
  return std::string(text.substr(0, text.rfind(' ', kLongest))) + " ...";
}

/// Returns "shape=", or its values if that is there already, each after the values that come before
/// a comma.
Candidates axis_words(const BegunLine& line) {
  Candidates found;
  const std::size_t equals = line.begun.find('=');
  for (const harness::Axis& axis : axes_of(*line.command, line.names)) {
    if (equals == std::string::npos) {
      found.push_back({axis.name + "=", axis.meaning});
    } else if (axis.name == line.begun.substr(0, equals)) {
      const std::string before = line.begun.substr(0, line.begun.find_last_of("=,") + 1);
      for (const std::string& value : values_of(axis)) found.push_back({before + value});
    }
  }
  return found;
}

/// Returns "dram.read.noc1=" and all other constants of the default profiles.
Candidates constant_words() {
  Candidates found;
  const chip::ProfileConstants constants = chip::load_constants();
  for (const chip::Constants* const some : {&constants.chip, &constants.software}) {
    for (const std::string& name : some->names()) {
      found.push_back({name + "=", some->at(name).meaning});
    }
  }
  return found;
}

Candidates experiment_words() {
  Candidates found;
  const experiments::Laboratory laboratory;
  for (const auto& experiment : laboratory.experiments()) {
    found.push_back({std::string(experiment->name()), std::string(experiment->question())});
  }
  return found;
}

/// Returns what the value of `option`, or a word without an option, can be.
Candidates value_words(const BegunLine& line, const Option& option) {
  Candidates found;
  for (const std::string& word : option.values.words) found.push_back({word});
  switch (option.values.completes) {
    case Completes::files:
      return found;
    case Completes::axes:
      return axis_words(line);
    case Completes::constants:
      return constant_words();
    case Completes::profiles:
      for (std::string& name : chip::built_in_profiles()) found.push_back({std::move(name)});
      return found;
    case Completes::explained:
      for (std::string& name : experiments::explained_workloads()) found.push_back({name});
      break;
    case Completes::experiments:
      break;
  }
  std::ranges::move(experiment_words(), std::back_inserter(found));
  return found;
}

Candidates option_words(const BegunLine& line) {
  Candidates found;
  for (const Option& option : line.options) {
    for (const std::string& name : option.all_names()) {
      found.push_back({name, shortened(option.text)});
    }
  }
  return found;
}

/// Returns the words that belong to no option and, for the first word of a line, the commands.
Candidates name_words(const BegunLine& line) {
  Candidates found;
  for (const Option& option : line.options) {
    if (option.names.empty()) found = value_words(line, option);
  }
  if (!line.command->name.empty() || !line.names.empty()) return found;
  found.push_back({"all", "every experiment, but not the tools about the emulator"});
  for (const Command* const command : commands()) {
    found.push_back({std::string(command->name), shortened(command->summary)});
  }
  return found;
}

/// Prints everything that the last of `words` can become.
void print_words(const std::vector<std::string>& words) {
  if (words.empty()) return;
  const BegunLine line = read(words);
  const Candidates found = line.awaiting != nullptr      ? value_words(line, *line.awaiting)
                           : line.begun.starts_with('-') ? option_words(line)
                                                         : name_words(line);
  for (const auto& [word, meaning] : found) {
    if (!word.starts_with(line.begun)) continue;
    fmt::print("{}{}{}{}\n", line.prefix, word, meaning.empty() ? "" : "\t", meaning);
  }
}

struct CompletionSettings {
  std::vector<std::string> words;
};

OptionList completion_options(CompletionSettings& settings) {
  Values words = to(settings.words);
  words.words = {"bash", "fish", "zsh"};
  words.takes_rest = true;
  return {{"", "SHELL", "", words}};
}

int print_completion(const CompletionSettings& settings) {
  const std::string shell = settings.words.empty() ? "" : settings.words.front();
  if (shell == "words") {
    print_words({settings.words.begin() + 1, settings.words.end()});
    return kOk;
  }
  for (const auto& [name, script] :
       {std::pair("bash", kBashCompletion), {"fish", kFishCompletion}, {"zsh", kZshCompletion}}) {
    if (shell != name || settings.words.size() > 1) continue;
    std::string text(script);
    for (std::size_t at = 0; (at = text.find("PROGRAM", at)) != std::string::npos;) {
      text.replace(at, std::string_view("PROGRAM").size(), program_name());
    }
    fmt::print("{}", text);
    return kOk;
  }
  throw UsageError(
      fmt::format("completion of '{}' is not known; accepted: bash, fish, zsh; try run_experiment "
                  "completion bash",
                  join(settings.words, " ")));
}

}  // namespace

const Command kCompletion{
    .name = "completion",
    .summary = "print the completion script for bash, zsh or fish",
    .usage = {"bash", "zsh", "fish"},
    .text = {{"",
              "The script makes the shell complete this program's commands, experiments, options, "
              "axes, constants and their values: source <(run_experiment completion bash). An "
              "installed "
              "program has put it where the shells look."}},
    .examples = {"source <(run_experiment completion bash)",
                 "run_experiment completion zsh > ~/.zfunc/_words    (with ~/.zfunc in $fpath)",
                 "run_experiment completion fish | source"},
    .status = "0 done; 2 bad command line",
    .begin = begin<completion_options, print_completion>,
    .sharing = Sharing::text};

}  // namespace howard::cli
