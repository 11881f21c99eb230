// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/objects/rewording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "experiments/axes/machines.h"
#include "experiments/questions/explain_question.h"
#include "experiments/training_plan/fit.h"
#include "harness/cli/command/command.h"
#include "harness/cli/command/known.h"
#include "harness/cli/command/program.h"
#include "harness/cli/objects/axis_words.h"
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
    case ObjectKind::mlir:
    case ObjectKind::workload:
      return {"explain", path};
    case ObjectKind::model:
      return {"inference", "-a", "model=" + path};
    case ObjectKind::result:
      return {"report", path};
    case ObjectKind::log:
      return {"analyze", path};
    case ObjectKind::other:
      break;
  }
  const bool is_file = std::filesystem::is_regular_file(object.path);
  throw UsageError(fmt::format(
      "cannot tell what {} is: {}; accepted: a script, a log or a trace, a training, an ONNX "
      "model, a module of the TTNN dialect, a config.json, a workload, results{}",
      path, object.remark,
      is_file ? "" : "; try run_experiment analyze " + shell_word(path) + ", if it is a log"));
}

/// Returns the words that tune an object; empty for one that has no calls of a chip.
Words tuning_of(const Object& object, const std::string& given) {
  switch (object.kind) {
    case ObjectKind::script:
    case ObjectKind::onnx:
    case ObjectKind::mlir:
    case ObjectKind::workload:
    case ObjectKind::log:
      return {"tune", object.path.string()};
    case ObjectKind::model:
      return {"tune", "inference", "-a", "model=" + given};
    default:
      return {};
  }
}

/// Returns the words for an object that follows `command`; empty if they stay as they are.
Words command_for(const Object& object, std::string_view command, const std::string& given) {
  const bool is_log = object.kind == ObjectKind::log;
  if ((command == "analyze" || command == "explain") && is_log && object.path != given) {
    return {std::string(command), object.path.string()};
  }
  if (command == "tune") return tuning_of(object, given);
  if ((command == "fit" || command == "train") && object.kind == ObjectKind::training) {
    return {std::string(command), "-c", given};
  }
  if (command != "explain") return {};
  if (object.kind == ObjectKind::script) return command_for(object);
  if (object.kind == ObjectKind::model) return {"explain", "inference", "-a", "model=" + given};
  return {};
}

void replace_first(Words& words, std::size_t count, Words by) {
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
  words.insert(words.begin(), by.begin(), by.end());
}

/// Returns "run_experiment python 'my step.py'", which a shell can run.
std::string line_of(const Words& words) {
  Words shell{"run_experiment"};
  for (const std::string& word : words) shell.push_back(shell_word(word));
  return join(shell, " ");
}

/// Returns "step.py is a script: run_experiment python step.py".
std::string taken_for(const Object& object, const std::string& given, const Words& words) {
  return fmt::format("{} is {}: {}{}", given, name_of(object.kind), line_of(words),
                     object.remark.empty() ? "" : " (" + object.remark + ")");
}

[[noreturn]] void refuse_missing(const std::string& file) {
  std::string hint;
  if (const auto neighbour = neighbour_of(file)) {
    hint = fmt::format("; did you mean {}?", shell_word(*neighbour));
  } else if (!std::filesystem::path(file).has_extension()) {
    hint =
        ", and no model of that name is known; try run_experiment PATH/config.json, for its file";
  }
  throw UsageError(fmt::format("there is no file '{}'{}", file, hint));
}

/// Returns the experiments that have an axis of this name, and say so by `accepts` of it.
template <class Accepts>
Words experiments_with(const std::string& axis_name, Accepts accepts) {
  Words names;
  for (const auto& experiment : known_experiments()) {
    const std::vector<harness::Axis> axes = experiment->axes(harness::Backend::emulated);
    const auto axis = std::ranges::find(axes, axis_name, &harness::Axis::name);
    if (axis != axes.end() && accepts(*axis)) names.emplace_back(experiment->name());
  }
  return names;
}

/// Returns whether an axis takes a value, or the first of several.
auto taking(const std::string& values) {
  return [value = split(values, ',').front()](const harness::Axis& axis) {
    try {
      static_cast<void>(axis.canonical(value));
      return true;
    } catch (const Error&) {
      return false;
    }
  };
}

/// Returns the words that ask an experiment for a model: on every machine, unless one is named.
Words command_for_model(const std::string& experiment, const std::string& model,
                        const Words& given) {
  Words words{experiment, "-a", "model=" + model};
  const auto names_machine = [](const std::string& word) {
    return word.starts_with("machine=") || word.starts_with("--machine");
  };
  if (experiment == "inference" && std::ranges::none_of(given, names_machine)) {
    words.insert(words.end(), {"-a", "machine=" + every_machine()});
  }
  return words;
}

/// Returns the experiment that is meant by a model: of several that know it, the one about all
/// cards. Absent if none does, and for the file of a training, which is not there.
std::optional<std::string> experiment_of_model(const std::string& name) {
  if (experiments::names_training(name)) return std::nullopt;
  const Words found = experiments_with("model", taking(name));
  if (found.empty()) return std::nullopt;
  const bool serves = std::ranges::find(found, "inference") != found.end();
  return serves ? "inference" : found.front();
}

/// Returns the index of the first word that is neither an option of a run nor the value of one.
/// `passes` says of each option whether it is passed over; it gets null for an unknown one.
template <class Passes>
std::size_t first_word(const Words& words, Passes passes) {
  const OptionList options = options_of(kRunCommand);
  std::size_t i = 0;
  for (; i < words.size() && words[i].starts_with('-'); ++i) {
    if (words[i] == "--") return i + 1;
    const Option* const option = find_option(options, words[i].substr(0, words[i].find('=')));
    if (!passes(option)) break;
    const bool apart = words[i].find('=') == std::string::npos;
    if (option != nullptr && option->takes_word() && apart) ++i;
  }
  return i;
}

/// Puts the experiment before an axis with which the words begin, where they name none: "--model
/// X" is "inference -a model=X". Throws UsageError where it may be one of several.
void name_experiment(Words& words, bool speaks) {
  if (std::ranges::any_of(words, is_experiment)) return;
  const std::size_t at = first_word(words, [](const Option* option) { return option != nullptr; });
  if (at >= words.size() || object_at(words[at])) return;
  const std::optional<AxisWord> axis = axis_word(words, at);
  if (!axis || axis->value.empty()) return;
  const auto any = [](const harness::Axis&) { return true; };
  const Words all = experiments_with(axis->name, any);
  if (all.empty()) return;
  const Words found = experiments_with(axis->name, taking(axis->value));
  if (found.empty() && object_at(axis->value)) return;  // an option of what takes that object
  const auto experiment =
      axis->name == "model" ? experiment_of_model(axis->value) : std::optional<std::string>();
  if (experiment) {
    Words by = command_for_model(*experiment, axis->value, words);
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(at),
                words.begin() + static_cast<std::ptrdiff_t>(at + axis->words));
    replace_first(words, 0, std::move(by));
    if (speaks) complain("no experiment is named: {}", line_of(words));
    return;
  }
  Words named = found.empty() ? all : found;
  std::ranges::stable_partition(named, [](const std::string& one) { return one == "inference"; });
  Words line = words;
  replace_first(line, 0, {named.front()});
  throw UsageError(fmt::format("no experiment is named, and {} is an axis of {}; try {}",
                               axis->name, join(named, ", "), line_of(line)));
}

/// Says so if an experiment has the name of a file that is here.
void note_namesake(const std::string& name) {
  try {
    const std::optional<Object> object = object_at(name);
    if (object) complain("{0} is an experiment here, and ./{0} {1}", name, name_of(object->kind));
  } catch (const Error&) {  // A folder in which nothing is known is not meant.
  }
}

/// Puts a command before the object that is the first name among the words. Options that stand
/// before it stand behind the command then.
void name_command(Words& words, bool speaks) {
  name_experiment(words, speaks);
  const std::size_t at = first_word(words, [](const Option*) { return true; });
  if (at >= words.size()) return;
  const std::string first = words[at];
  if (is_experiment(first)) {
    if (speaks) note_namesake(first);
    return;
  }
  Words by;
  if (const std::optional<Object> object = object_at(first)) {
    by = object->kind == ObjectKind::model
             ? command_for_model("inference", object->path.string(), words)
             : command_for(*object);
    if (speaks) complain("{}", taken_for(*object, first, by));
  } else if (const auto experiment = experiment_of_model(first)) {
    by = command_for_model(*experiment, first, words);
    if (speaks) complain("{} is a model: {}", first, line_of(by));
  } else if (looks_like_file(first) && first.find('=') == std::string::npos) {
    refuse_missing(first);
  } else {
    return;
  }
  Words leading(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
  std::erase(leading, "--");
  by.insert(by.begin() + 1, leading.begin(), leading.end());
  replace_first(words, at + 1, std::move(by));
}

/// Says whether explain knows a word by itself.
bool is_explained(const std::string& word) {
  return is_experiment(experiments::experiment_of_workload(word));
}

/// Changes the command that an object follows, where another is meant.
void change_command(Words& words, bool speaks) {
  if (words.size() < 2 || words[1].starts_with('-')) return;
  constexpr std::array<std::string_view, 5> kTakeObjects{"analyze", "explain", "fit", "train",
                                                         "tune"};
  const std::string command = words[0];
  const std::string given = words[1];
  if (std::ranges::find(kTakeObjects, command) == kTakeObjects.end()) return;
  const bool explains = command == "explain" || command == "tune";
  if (explains && is_explained(given)) return;
  const std::optional<Object> object = object_at(given);
  const bool is_training = command == "fit" || command == "train";
  if (!object) {
    const bool is_word = given.find('=') == std::string::npos;
    if (is_training && is_word && looks_like_file(given)) refuse_missing(given);
    if (is_training && is_word) {
      throw UsageError(fmt::format(
          "there is no training file '{0}'; try run_experiment {1} -c training.yaml, or "
          "run_experiment {1} --preset nano_gpt",
          given, command));
    }
    const auto experiment = explains ? experiment_of_model(given) : std::optional<std::string>();
    if (!experiment) {
      if (command == "tune" && looks_like_file(given) && given.find('=') == std::string::npos) {
        refuse_missing(given);
      }
      return;
    }
    Words by{command, *experiment, "-a", "model=" + given};
    if (speaks) complain("{} is a model: {}", given, line_of(by));
    return replace_first(words, 2, std::move(by));
  }
  Words by = command_for(*object, command, given);
  if (by.empty() && command != "analyze" && command != "explain") {
    const std::string_view takes =
        is_training ? "a training"
                    : "a script, a log, a workload, a model, a module, or sizes, -a m=M -a k=K "
                      "-a n=N";
    throw UsageError(fmt::format("{} takes {}; {}", command, takes,
                                 taken_for(*object, given, command_for(*object))));
  }
  if (by.empty()) return;
  const bool is_plain = by.front() == command && by.back() == given;
  if (speaks && !is_plain) complain("{}", taken_for(*object, given, by));
  replace_first(words, 2, std::move(by));
}

/// Returns whether a script's text reads the words behind it, by Python's list of them or a
/// library.
bool reads_arguments(std::string_view text) {
  constexpr std::array<std::string_view, 11> kReaders{"argv",  "argparse", "optparse", "getopt",
                                                      "click", "typer",    "docopt",   "absl",
                                                      "fire",  "tyro",     "hydra"};
  return std::ranges::any_of(kReaders, [&](std::string_view reader) {
    return text.find(reader) != std::string_view::npos;
  });
}

/// Moves options of the command python that stand behind a script before it, unless the script's
/// text reads arguments: then they are the script's. "--" before the script leaves all where they
/// are.
void place_script_options(Words& words, bool speaks) {
  const OptionList options = options_of(kPython);
  std::size_t script = 1;
  for (; script < words.size() && words[script].starts_with('-'); ++script) {
    const Option* const option = find_option(options, words[script]);
    if (words[script] == "--" || (option != nullptr && option->names == "-m")) return;
    if (option != nullptr && option->takes_word()) ++script;
  }
  if (script + 1 >= words.size()) return;
  constexpr std::size_t kRead = 1 << 20;
  const std::string text = beginning_of(words[script], kRead);
  const bool reads = reads_arguments(text);
  for (std::size_t i = script + 1; i < words.size() && words[i] != "--"; ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    // Parsers of scripts have --help without naming it.
    const bool may_be_ours = (name.starts_with("--") && name != "--help") || name == "-o";
    const Option* const option = may_be_ours ? find_option(options, name) : nullptr;
    if (option == nullptr) continue;
    if (reads) {
      if (speaks) {
        complain(
            "note: {0} is handed to {1}, which reads its arguments; before {1} it is an option of "
            "python",
            name, words[script]);
      }
      continue;
    }
    const bool has_word = option->takes_word() && name == words[i] && i + 1 < words.size();
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    if (speaks) {
      complain(
          "note: {0} is taken as an option of python, as {1} reads no arguments; to hand it on: "
          "{2}",
          name, words[script], "run_experiment python -- " + shell_word(words[script]) + " ...");
    }
    std::rotate(words.begin() + static_cast<std::ptrdiff_t>(script), at, at + (has_word ? 2 : 1));
    script += has_word ? 2 : 1;
    i += has_word ? 1 : 0;
  }
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
  if (command == &kPython) place_script_options(words, speaks);
  const std::array<const Command*, 4> have_axes{&kExplain, &kTune, &kFit, &kTrain};
  const bool has_axes = std::ranges::find(have_axes, command) != have_axes.end();
  return has_axes ? with_axes(words, *command) : words;
}

}  // namespace howard::cli
