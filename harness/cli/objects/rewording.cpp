// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/objects/rewording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "experiments/axes/machines.h"
#include "experiments/laboratory/laboratory.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/known.h"
#include "harness/cli/command/program.h"
#include "harness/cli/objects/object.h"

namespace howard::cli {
namespace {

using Words = std::vector<std::string>;

/// Returns the machines of all families: "n150,n300,t3k,p150".
std::string every_machine() {
  Words words;
  for (const experiments::Machine& machine : experiments::machines()) {
    words.emplace_back(machine.word);
  }
  return join(words, ",");
}

/// Returns the words that run, analyze or plan an object.
Words command_for(const Object& object) {
  std::string path = object.path.string();
  switch (object.kind) {
    case ObjectKind::script:
      return {"python", path};
    case ObjectKind::training:
      return {"fit", "-c", path};
    case ObjectKind::onnx:
    case ObjectKind::workload:
      return {"explain", path};
    case ObjectKind::model:
      return {"inference", "-a", "model=" + path, "-a", "machine=" + every_machine()};
    case ObjectKind::result:
      return {"report", path};
    case ObjectKind::log:
      return {"analyze", path};
  }
  return {};
}

/// Returns the words for an object that follows `command`; empty if they stay as they are.
Words command_for(const Object& object, std::string_view command, const std::string& given) {
  const bool is_log = object.kind == ObjectKind::log;
  if ((command == "analyze" || command == "explain") && is_log && object.path != given) {
    return {std::string(command), object.path.string()};
  }
  if ((command == "fit" || command == "train") && object.kind == ObjectKind::training) {
    return {std::string(command), "-c", given};
  }
  if (command != "explain") return {};
  if (object.kind == ObjectKind::script || object.kind == ObjectKind::training) {
    return command_for(object);
  }
  if (object.kind == ObjectKind::model) return {"explain", "inference", "-a", "model=" + given};
  return {};
}

bool is_experiment(const std::string& word) {
  const experiments::Laboratory laboratory;
  return word == "all" || std::ranges::any_of(laboratory.experiments(),
                                              [&](const auto& one) { return one->name() == word; });
}

void replace_first(Words& words, std::size_t count, Words by) {
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  words.insert(words.begin(), by.begin(), by.end());
}

/// Returns "step.py is a script: run_experiment python step.py".
std::string taken_for(const Object& object, const std::string& given, const Words& words) {
  std::vector<std::string> shell;
  for (const std::string& word : words) shell.push_back(shell_word(word));
  return fmt::format("{} is {}: run_experiment {}", given, name_of(object.kind), join(shell, " "));
}

/// Returns the index of the first word that is neither an option of a run nor the value of one.
std::size_t first_name(const Words& words) {
  const OptionList options = options_of(kRunCommand);
  std::size_t i = 0;
  for (; i < words.size() && words[i].starts_with('-'); ++i) {
    if (words[i] == "--") return i + 1;
    const Option* const option = find_option(options, words[i]);
    if (option != nullptr && option->takes_word()) ++i;
  }
  return i;
}

/// Puts a command before the object that is the first name among the words. Options that stand
/// before it stand behind the command then.
void name_command(Words& words, bool speaks) {
  const std::size_t at = first_name(words);
  if (at >= words.size()) return;
  const std::string first = words[at];
  const std::optional<Object> object = object_at(first);
  if (!object) {
    if (!looks_like_file(first) || first.find('=') != std::string::npos) return;
    throw UsageError(fmt::format("there is no file '{}'", first));
  }
  if (is_experiment(first)) {
    if (speaks) complain("{0} is an experiment here, and ./{0} {1}", first, name_of(object->kind));
    return;
  }
  Words by = command_for(*object);
  const auto names_machine = [](const std::string& word) {
    return word.starts_with("machine=") || word.starts_with("--machine");
  };
  if (object->kind == ObjectKind::model && std::ranges::any_of(words, names_machine)) {
    by.resize(3);  // the model, and not every machine
  }
  if (speaks) complain("{}", taken_for(*object, first, by));
  Words leading(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
  std::erase(leading, "--");
  by.insert(by.begin() + 1, leading.begin(), leading.end());
  replace_first(words, at + 1, std::move(by));
}

/// Changes the command that an object follows, where another is meant.
void change_command(Words& words, bool speaks) {
  if (words.size() < 2 || words[1].starts_with('-')) return;
  constexpr std::array<std::string_view, 5> kTakeObjects{"analyze", "explain", "fit", "train",
                                                         "tune"};
  if (std::ranges::find(kTakeObjects, words[0]) == kTakeObjects.end()) return;
  const std::optional<Object> object = object_at(words[1]);
  if (!object || (words[0] == "explain" && is_experiment(words[1]))) return;
  Words by = command_for(*object, words[0], words[1]);
  if (by.empty() && words[0] != "analyze" && words[0] != "explain") {
    const std::string_view takes =
        words[0] == "tune" ? "sizes, -a m=M -a k=K -a n=N" : "a training";
    throw UsageError(fmt::format("{} takes {}; {}", words[0], takes,
                                 taken_for(*object, words[1], command_for(*object))));
  }
  if (by.empty()) return;
  const bool is_plain = by.front() == words[0] && by.back() == words[1];
  if (speaks && !is_plain) complain("{}", taken_for(*object, words[1], by));
  replace_first(words, 2, std::move(by));
}

/// Knows the axes of what a command line asks for. It looks them up when it is asked first, because
/// most command lines give no axis without -a.
class AxisNames {
 public:
  AxisNames(const Command& command, Words names) : command_(command), names_(std::move(names)) {}

  bool has(const std::string& name) {
    if (!known_) {
      known_.emplace();
      for (const harness::Axis& axis : axes_of(command_, names_)) known_->insert(axis.name);
      if (command_.name == kExplain.name) known_->insert({"m", "k", "n"});
    }
    return known_->contains(name);
  }

 private:
  const Command& command_;
  Words names_;
  std::optional<std::set<std::string>> known_;
};

/// Returns the words that are names: neither options, nor values of options, nor AXIS=VALUE.
Words names_among(const Words& words, std::size_t first, const OptionList& options) {
  Words names;
  for (std::size_t i = first; i < words.size(); ++i) {
    const Option* const option = find_option(options, words[i]);
    if (option != nullptr && option->takes_word() && ++i == words.size()) break;
    if (option == nullptr && !words[i].starts_with('-') &&
        words[i].find('=') == std::string::npos) {
      names.push_back(words[i]);
    }
  }
  return names;
}

/// Puts -a before the axes that the words give without it.
Words with_axes(const Words& words, const Command& command) {
  const std::size_t first = command.name.empty() ? 0 : 1;
  const OptionList options = options_of(command);
  AxisNames axes(command, names_among(words, first, options));
  Words made(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(first));
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_long = word.starts_with("--") && word.size() > 2;
    const std::size_t equals = std::min(word.find('='), word.size());
    const Option* const option = find_option(options, word.substr(0, is_long ? equals : 2));
    if (option != nullptr && !option->names.empty() && word.starts_with('-')) {
      made.push_back(word);
      const bool apart = is_long ? equals == word.size() : word.size() == 2;
      if (option->takes_word() && apart && i + 1 < words.size()) made.push_back(words[++i]);
      continue;
    }
    const bool is_pair = equals < word.size() && (is_long || !word.starts_with('-'));
    std::string name = word.substr(is_long ? 2 : 0, equals - (is_long ? 2 : 0));
    std::ranges::replace(name, '-', '_');
    if (is_pair && axes.has(name)) {
      made.insert(made.end(), {"-a", name + word.substr(equals)});
    } else if (is_long && option == nullptr && axes.has(name)) {
      if (i + 1 == words.size())
        throw UsageError(fmt::format("{0} needs a value; try {0} VALUE", word));
      made.insert(made.end(), {"-a", name + "=" + words[++i]});
    } else {
      made.push_back(word);
    }
  }
  return made;
}

}  // namespace

std::vector<std::string> reworded(std::span<const std::string> given, bool speaks) {
  Words words(given.begin(), given.end());
  if (words.empty()) return words;
  if (find_command(words.front()) == nullptr) {
    name_command(words, speaks);
  } else {
    change_command(words, speaks);
  }
  const Command* const command = find_command(words.front());
  if (command == nullptr) return with_axes(words, kRunCommand);
  const bool has_axes = command->name == kExplain.name || command->name == kTune.name;
  return has_axes ? with_axes(words, *command) : words;
}

}  // namespace howard::cli
