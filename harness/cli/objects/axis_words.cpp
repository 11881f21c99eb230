// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/objects/axis_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/training/config/ttml_config.h"
#include "experiments/questions/explain_question.h"
#include "harness/cli/command/given.h"
#include "harness/cli/command/known.h"

namespace howard::cli {
namespace {

using Words = std::vector<std::string>;

/// Knows the axes of what a command line asks for, or the keys of a training's files. It looks them
/// up when it is asked first, because most command lines give none without its option.
class AxisNames {
 public:
  AxisNames(const Command& command, Words names) : command_(command), names_(std::move(names)) {}

  /// Returns whether an experiment or an object is named, whose axes these are.
  bool are_named() const { return !names_.empty(); }
  /// Returns the option that sets an axis.
  std::string_view option() const { return has_keys() ? "--with" : "-a"; }

  bool has(const std::string& name) {
    if (!known_) known_ = known();
    return known_->contains(name);
  }

  /// Returns the only axis of the named experiments that takes the word: "model" for "resnet-50".
  std::optional<std::string> of_value(const std::string& word) const {
    const bool has_word =
        !has_keys() && names_.size() > 1 && (command_.name != kTune.name || names_experiment());
    if (!has_word || word == names_.front() || is_experiment(word)) return std::nullopt;
    std::optional<std::string> found;
    for (const harness::Axis& axis : axes_of(command_, names_)) {
      try {
        static_cast<void>(axis.canonical(word));
      } catch (const Error&) {
        continue;
      }
      if (found) return std::nullopt;  // it may be of several
      found = axis.name;
    }
    return found;
  }

 private:
  bool names_experiment() const {
    return is_experiment(experiments::experiment_of_workload(names_.front()));
  }
  bool has_keys() const { return command_.name == kFit.name || command_.name == kTrain.name; }

  std::set<std::string> known() const {
    std::set<std::string> known;
    if (has_keys()) {
      training::TtmlConfig config;
      training::for_each_ttml_key(config, [&](const training::TtmlKey& key, auto&) {
        known.insert({std::string(key.name), key.whole()});
      });
      return known;
    }
    for (const harness::Axis& axis : axes_of(command_, names_)) known.insert(axis.name);
    const bool tunes = command_.name == kTune.name;
    if (command_.name == kExplain.name || tunes) known.insert({"m", "k", "n"});
    if (tunes && names_.empty()) known.insert("shape");
    return known;
  }

  const Command& command_;
  Words names_;
  std::optional<std::set<std::string>> known_;
};

/// Returns the sizes in "512x1024x2048", or thrice that of a cube, "4096"; none if there are none.
Words sizes_in(const std::string& text) {
  Words sizes = split(text, 'x');
  if (sizes.size() == 1) sizes.resize(3, sizes.front());
  const bool are_sizes = std::ranges::all_of(
      sizes, [](const std::string& size) { return parse_natural(size).has_value(); });
  return are_sizes && sizes.size() == 3 ? sizes : Words();
}

/// Adds the sizes of a product as axes. Throws UsageError for what says none.
void add_sizes(Words& words, const std::string& shape) {
  const Words sizes = sizes_in(shape);
  if (sizes.empty()) {
    throw UsageError(
        fmt::format("cannot read the sizes '{}'; accepted: N or MxKxN, of one product", shape));
  }
  words.insert(words.end(), {"-a", "m=" + sizes[0], "-a", "k=" + sizes[1], "-a", "n=" + sizes[2]});
}

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

/// Returns the long option that "NAME=VALUE" gives without its dashes; null if it gives none.
const Option* option_of(const OptionList& options, const AxisWord& axis, const std::string& word) {
  if (axis.is_long || std::filesystem::exists(word)) return nullptr;
  std::string name = "--" + axis.name;
  std::ranges::replace(name, '_', '-');
  const Option* const option = find_option(options, name);
  return option != nullptr && option->takes_word() ? option : nullptr;
}

}  // namespace

Words with_axes(const Words& words, const Command& command) {
  const std::size_t first = command.name.empty() ? 0 : 1;
  const OptionList options = options_of(command);
  Words names = names_among(words, first, options);
  // The sizes of a product name nothing.
  if (command.name == kTune.name) {
    std::erase_if(names, [](const std::string& name) { return !sizes_in(name).empty(); });
  }
  AxisNames axes(command, std::move(names));
  const bool has_own_sizes = command.name == kTune.name || command.name == kExplain.name;
  std::string shape;
  Words made(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(first));
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool is_long = word.starts_with("--") && word.size() > 2;
    const std::string name = word.substr(0, is_long ? word.find('=') : 2);
    const Option* const option = word.starts_with('-') ? find_option(options, name) : nullptr;
    if (option != nullptr) {
      made.push_back(word);
      const bool apart = option->takes_word() && name == word && i + 1 < words.size();
      if (apart) made.push_back(words[++i]);
      continue;
    }
    const std::optional<AxisWord> axis = axis_word(words, i);
    if (axis && axes.has(axis->name)) {
      if (axis->value.empty() && word.find('=') == std::string::npos)
        throw UsageError(fmt::format("{0} needs a value; try {0} VALUE", word));
      if (command.name == kTune.name && axis->name == "shape" && !axes.are_named()) {
        add_sizes(made, axis->value);
      } else {
        made.insert(made.end(), {std::string(axes.option()), axis->name + "=" + axis->value});
      }
      i += axis->words - 1;
    } else if (const Option* const meant = axis ? option_of(options, *axis, word) : nullptr) {
      made.insert(made.end(), {meant->name(), axis->value});
    } else if (!sizes_in(word).empty() && (has_own_sizes || axes.has("shape"))) {
      shape += (shape.empty() ? "" : "x") + word;
    } else if (const auto named =
                   axis || word.starts_with('-') ? std::nullopt : axes.of_value(word)) {
      made.insert(made.end(), {"-a", *named + "=" + word});
    } else {
      made.push_back(word);
    }
  }
  if (shape.empty()) return made;
  if (has_own_sizes) {
    add_sizes(made, shape);
  } else {
    made.insert(made.end(), {"-a", "shape=" + shape});
  }
  return made;
}

std::optional<AxisWord> axis_word(const Words& words, std::size_t at) {
  const std::string& word = words[at];
  const std::size_t equals = word.find('=');
  AxisWord found{.is_long = word.starts_with("--") && word.size() > 2};
  if (equals == std::string::npos && !found.is_long) return std::nullopt;
  if (!found.is_long && word.starts_with('-')) return std::nullopt;
  found.name = word.substr(found.is_long ? 2 : 0);
  found.name.resize(std::min(found.name.find('='), found.name.size()));
  std::ranges::replace(found.name, '-', '_');
  if (equals != std::string::npos) {
    found.value = word.substr(equals + 1);
  } else if (at + 1 < words.size()) {
    found.value = words[at + 1];
    found.words = 2;
  }
  return found;
}

}  // namespace howard::cli
