// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/manual/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
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
#include "harness/cli/command_line.h"
#include "harness/cli/exit_status.h"
#include "harness/cli/options.h"
#include "harness/cli/verbs/explain.h"
#include "harness/cli/verbs/manual/manual.h"
#include "harness/cli/verbs/tune.h"
#include "harness/cli/verbs/verbs.h"

namespace howard::cli {

// The build compiles these in: the manual, and the scripts that ask for words.
extern const std::string_view kHelp, kBashCompletion, kZshCompletion, kFishCompletion;

namespace {

/// Holds a word with which a command line can go on, and its meaning.
struct Candidate {
  std::string word;
  std::string meaning;
};
using Candidates = std::vector<Candidate>;

/// Returns the options of a command, or those for running experiments if `verb` is null.
std::vector<OptionFacts> options_of(const Verb* verb) {
  const std::array<const char*, 2> words{"", kDescribeOptions};
  try {
    if (verb != nullptr) {
      verb->run(static_cast<int>(words.size()), words.data());
    } else {
      static_cast<void>(parse_options(static_cast<int>(words.size()), words.data()));
    }
  } catch (const OptionsAsked& asked) {
    return asked.options;
  }
  return {};
}

/// Holds a command line that is not finished.
struct BegunLine {
  const Verb* verb = nullptr;  ///< Null if experiments are run.
  std::vector<OptionFacts> options;
  std::vector<std::string> names;       ///< The words that belong to no option, without the verb.
  std::optional<OptionFacts> awaiting;  ///< The option to which the last word is the value.
  std::string prefix;  ///< What comes before that value in the last word: "--backend=".
  std::string begun;   ///< The value or word so far.
};

std::optional<OptionFacts> find(const std::vector<OptionFacts>& options, std::string_view name) {
  for (const OptionFacts& option : options) {
    if (std::ranges::find(option.names, name) != option.names.end()) return option;
  }
  return std::nullopt;
}

/// Reads the words after the program's name. The last one is not finished.
BegunLine read(std::vector<std::string> words) {
  BegunLine line;
  line.begun = std::move(words.back());
  words.pop_back();
  for (const Verb& verb : verbs()) {
    if (!words.empty() && verb.name == words.front()) line.verb = &verb;
  }
  line.options = options_of(line.verb);
  for (std::size_t i = line.verb == nullptr ? 0 : 1; i < words.size(); ++i) {
    const auto option = find(line.options, words[i]);
    if (!option && !words[i].starts_with('-')) line.names.push_back(words[i]);
    if (!option || !option->takes_value) continue;
    if (++i == words.size()) line.awaiting = option;
  }
  const std::size_t equals = line.begun.find('=');
  if (!line.awaiting && line.begun.starts_with("--") && equals != std::string::npos) {
    line.awaiting = find(line.options, line.begun.substr(0, equals));
    line.prefix = line.begun.substr(0, equals + 1);
    line.begun.erase(0, equals + 1);
  }
  return line;
}

/// Returns the beginning of what a manual says about the term that contains `word`; "" if there is
/// none.
std::string meaning_of(std::string_view help, std::string_view word) {
  constexpr std::size_t kLongest = 60;
  for (const ManualSection& section : sections_of(manual(help))) {
    for (const ManualItem& item : section.items) {
      std::vector<std::string> words = split(item.term, ' ');
      for (std::string& one : words) one = split(one, ',').front();
      if (std::ranges::find(words, word) == words.end()) continue;
      if (item.text.size() <= kLongest) return item.text;
      return item.text.substr(0, item.text.rfind(' ', kLongest)) + " ...";
    }
  }
  return "";
}

/// Returns the values that an axis can have: all its words if the list is closed, else its default
/// values.
std::vector<std::string> values_of(const harness::Axis& axis) {
  std::string accepted;
  try {
    static_cast<void>(axis.canonical("\x01"));
  } catch (const Error& refusal) {
    accepted = refusal.text().accepted;
  }
  std::vector<std::string> values;
  for (std::string word : split(accepted, ',')) {
    word.erase(0, word.starts_with(' ') ? 1 : 0);
    try {
      if (axis.canonical(word) == word) values.push_back(std::move(word));
    } catch (const Error&) {
      return axis.values;  // it is a sentence, not a list of words
    }
  }
  return values;
}

/// Returns the axes of the experiments that `line` names, each once.
std::vector<harness::Axis> axes_of(const BegunLine& line) {
  if (line.verb != nullptr && line.verb->run == tune) return experiments::tuning_axes();
  std::vector<std::string> names = line.names;
  std::ranges::transform(names, names.begin(), experiments::experiment_of_workload);
  if (line.verb != nullptr && names.empty())
    names.emplace_back(experiments::experiment_of_workload("matmul"));
  const bool all = std::ranges::find(names, "all") != names.end();
  std::vector<harness::Axis> axes;
  const experiments::Laboratory laboratory;
  for (const auto& experiment : laboratory.experiments()) {
    if (!all && std::ranges::find(names, experiment->name()) == names.end()) continue;
    for (const auto backend : {harness::Backend::emulated, harness::Backend::host}) {
      for (harness::Axis& axis : experiment->axes(backend)) {
        if (std::ranges::find(axes, axis.name, &harness::Axis::name) == axes.end()) {
          axes.push_back(std::move(axis));
        }
      }
    }
  }
  return axes;
}

/// Returns "shape=", or its values if that is there already, each after the values that come before
/// a comma.
Candidates axis_words(const BegunLine& line) {
  Candidates found;
  const std::size_t equals = line.begun.find('=');
  for (const harness::Axis& axis : axes_of(line)) {
    if (equals == std::string::npos) {
      found.push_back({axis.name + "=", axis.meaning});
    } else if (axis.name == line.begun.substr(0, equals)) {
      const std::string before = line.begun.substr(0, line.begun.find_last_of("=,") + 1);
      for (const std::string& value : values_of(axis)) found.push_back({before + value, ""});
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

/// Returns the experiments and, for the first word of a line, everything else that it can be.
Candidates names_for(const BegunLine& line) {
  Candidates found;
  const experiments::Laboratory laboratory;
  for (const auto& experiment : laboratory.experiments()) {
    found.push_back({std::string(experiment->name()), std::string(experiment->question())});
  }
  if (line.verb == nullptr && line.names.empty()) {
    for (const std::string word : {"all", "list"}) {
      found.push_back({word, meaning_of(kHelp, word)});
    }
    for (const Verb& verb : verbs()) {
      found.push_back({std::string(verb.name), meaning_of(kHelp, verb.name)});
    }
  }
  return found;
}

Candidates words_of(const OptionFacts& option) {
  Candidates found;
  for (const std::string& word : option.words) found.push_back({word, ""});
  return found;
}

Candidates value_words(const BegunLine& line) {
  const auto is = [&](std::string_view name) {
    return std::ranges::find(line.awaiting->names, name) != line.awaiting->names.end();
  };
  if (is("--axis")) return axis_words(line);
  if (is("--set")) return constant_words();
  if (!is("--profile")) return words_of(*line.awaiting);
  Candidates found;
  for (std::string& name : chip::built_in_profiles()) found.push_back({std::move(name), ""});
  return found;
}

Candidates option_words(const BegunLine& line) {
  const std::string_view help = line.verb == nullptr ? kHelp : *line.verb->help;
  Candidates found;
  for (const OptionFacts& option : line.options) {
    for (const std::string& name : option.names) found.push_back({name, meaning_of(help, name)});
  }
  return found;
}

/// Returns the words that belong to no option: experiments, or what the verb itself says.
Candidates name_words(const BegunLine& line) {
  Candidates found;
  for (const OptionFacts& option : line.options) {
    if (!option.names.empty() || !option.takes_value) continue;
    Candidates words = words_of(option);
    std::ranges::move(words, std::back_inserter(found));
  }
  if (line.verb != nullptr && line.verb->run != explain) return found;
  Candidates names = names_for(line);
  std::ranges::move(names, std::back_inserter(found));
  return found;
}

/// Returns everything that the last of `words` can become.
Candidates candidates(const std::vector<std::string>& words) {
  const BegunLine line = read(words);
  Candidates found = line.awaiting                 ? value_words(line)
                     : line.begun.starts_with('-') ? option_words(line)
                                                   : name_words(line);
  std::erase_if(found, [&](const Candidate& one) { return !one.word.starts_with(line.begun); });
  for (Candidate& one : found) one.word.insert(0, line.prefix);
  return found;
}

int print_words(int argc, const char* const* argv) {
  if (argc == 0) return kOk;
  for (const Candidate& one : candidates({argv, argv + argc})) {
    fmt::print("{}{}{}\n", one.word, one.meaning.empty() ? "" : "\t", one.meaning);
  }
  return kOk;
}

}  // namespace

int completion(int argc, const char* const* argv) {
  if (argc > 1 && argv[1] == std::string_view("words")) return print_words(argc - 2, argv + 2);
  constexpr std::array kShells{std::pair("bash", &kBashCompletion),
                               std::pair("fish", &kFishCompletion),
                               std::pair("zsh", &kZshCompletion)};
  CLI::App app;
  app.set_help_flag();
  bool help = false;
  std::string shell;
  app.add_flag("-h,--help", help);
  app.add_option("shell", shell, "bash,fish,zsh");
  parse_command_line(app, argc, argv);
  if (help) {
    fmt::print("{}", manual(kHelp));
    return kOk;
  }
  for (const auto& [name, script] : kShells) {
    if (shell != name) continue;
    std::string text(*script);
    replace_all(text, "PROGRAM", program_name());
    fmt::print("{}", text);
    return kOk;
  }
  throw UsageError(
      fmt::format("completion of '{}' is not known; accepted: bash, fish, zsh; try {} "
                  "completion bash",
                  shell, program_name()));
}

}  // namespace howard::cli
