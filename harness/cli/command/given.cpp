// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command/given.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace howard::cli {
namespace {

[[noreturn]] void refuse_unknown(const OptionList& options, const std::string& name) {
  std::vector<std::string> names;
  for (const Option& option : options) {
    if (!option.names.empty()) names.push_back(option.name());
    if (!option.also.empty()) std::ranges::move(split(option.also, ','), std::back_inserter(names));
    const std::vector<std::string> former = split(option.formerly, ',');
    if (std::ranges::find(former, name) != former.end()) {
      throw UsageError(fmt::format("{} is called {} now; try {}{}{}", name, option.name(),
                                   option.name(), option.takes_word() ? " " : "", option.value));
    }
  }
  const auto suggestion = closest(name, names);
  throw UsageError(fmt::format("there is no option {}; {}", name,
                               suggestion ? "did you mean " + *suggestion + "?" : "try --help"));
}

}  // namespace

const Option* find_option(const OptionList& options, std::string_view name) {
  for (const Option& option : options) {
    std::vector<std::string> names = option.all_names();
    std::ranges::move(split(option.also, ','), std::back_inserter(names));
    if (std::ranges::find(names, name) != names.end()) return &option;
  }
  return nullptr;
}

Given::Given(const OptionList& options, std::span<const std::string> words) {
  bool options_end = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (options_end || words[i].size() < 2 || words[i].front() != '-') {
      add_word(options, words[i]);
      options_end = options_end || all_.back().option->values.takes_rest;
    } else if (words[i] == "--") {
      options_end = true;
    } else {
      i = add_option(options, words, i);
      options_end = all_.back().option->values.takes_rest;
    }
  }
}

std::size_t Given::add_option(const OptionList& options, std::span<const std::string> words,
                              std::size_t at) {
  const std::string& word = words[at];
  const bool is_long = word.starts_with("--");
  const std::size_t end = is_long ? std::min(word.find('='), word.size()) : 2;
  const std::string name = word.substr(0, end);
  const Option* const option = find_option(options, name);
  if (option == nullptr) refuse_unknown(options, name);
  const bool has_value = end < word.size();
  if (option->is_flag() && has_value) throw UsageError(fmt::format("{} takes no value", name));
  if (!has_value && !option->takes_word()) {
    // Else the file of a page would be read as a log, or as the name of an experiment.
    if (!option->is_flag() && at + 1 < words.size() && words[at + 1].ends_with(".html")) {
      throw UsageError(
          fmt::format("{0} takes its file after \"=\"; try {0}='{1}'", name, words[at + 1]));
    }
    all_.push_back({option, name, ""});
    return at;
  }
  if (!has_value && at + 1 == words.size()) {
    throw UsageError(fmt::format("{0} needs a value; try {0} VALUE", name));
  }
  add(*option, name, has_value ? word.substr(end + (word[end] == '=' ? 1 : 0)) : words[at + 1]);
  return has_value ? at : at + 1;
}

void Given::add_word(const OptionList& options, const std::string& word) {
  const auto option = std::ranges::find(options, "", &Option::names);
  const auto is_word = [](const One& one) { return one.option->names.empty(); };
  if (option == options.end() || (!option->values.repeats && std::ranges::any_of(all_, is_word))) {
    throw UsageError(fmt::format("'{}' is a word too many", word));
  }
  all_.push_back({&*option, "", word});
}

void Given::add(const Option& option, std::string name, std::string value) {
  if (value.empty()) {
    throw UsageError(fmt::format("{0} is empty; try {0} VALUE, or leave it out", name));
  }
  all_.push_back({&option, std::move(name), std::move(value)});
  const auto times = std::ranges::count(all_, &option, &One::option);
  if (times > 1 && !option.is_flag() && !option.values.repeats) {
    throw UsageError(fmt::format("{} is given {} times; accepted: once", all_.back().name, times));
  }
}

void Given::take() const {
  for (const One& one : all_) one.option->values.take(one.name, one.value);
}

bool Given::has(std::string_view name) const {
  return std::ranges::any_of(all_, [&](const One& one) { return one.option->name() == name; });
}

void Given::require_applicable() const {
  for (const One& one : all_) {
    const Applies& applies = one.option->applies;
    if (applies.when) require_use(one.option->name(), applies.when(), applies.to);
  }
}

void Given::require_use(std::string_view name, bool used, std::string_view purpose) const {
  if (!used && has(name)) throw UsageError(fmt::format("{} is for {}", name, purpose));
}

}  // namespace howard::cli
