// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/usual_names.h"
#include "harness/measurement.h"

namespace howard::cli {

/// Reports a command line that cannot be understood (exit code 2). Its text is one line, ready to
/// print.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws UsageError for a value that `option` cannot have.
[[noreturn]] void refuse_value(std::string_view option, const std::string& value,
                               const std::string& accepted, const std::string& hint = "");

/// What completion offers for a value whose words are not listed.
enum class Completes : std::uint8_t { files, axes, constants, profiles, experiments, explained };

/// Where the values of an option go, and which ones it accepts.
struct Values {
  /// Takes one value; `option` is the name under which it was given. Throws UsageError.
  std::function<void(std::string_view option, const std::string& value)> take;
  std::vector<std::string> words;  ///< All values, if they are known.
  Completes completes = Completes::files;
  bool repeats = false;     ///< The option may be given more than once.
  bool takes_rest = false;  ///< All words that follow are words without an option.
};

/// Says when an option changes anything. One that would not is refused.
struct Applies {
  std::function<bool()> when;  ///< Empty: always.
  std::string_view to;         ///< What it is for: "--pictures DIR".
};

/// Declares one option of a command. The parser, --help, the manual page, completion, `list --json`
/// and the refusals all read this. Words without an option are one with no name.
struct Option {
  std::string_view names;  ///< "-a, --axis"
  std::string_view value;  ///< "AXIS=V1,V2"; empty for a flag; "[=FILE]" if it may be left out.
  std::string_view text;   ///< What it does, as a sentence without its full stop.
  Values values;
  Applies applies{};
  std::string_view group = "OPTIONS";  ///< The heading under which help shows it.
  std::string_view formerly{};         ///< Older names, which are refused with the present one.
  std::string_view also{};             ///< Older names, which are taken; help does not list them.

  bool is_flag() const { return value.empty(); }
  /// Returns whether the next word is its value.
  bool takes_word() const { return !is_flag() && !value.starts_with("[="); }
  /// Returns "-a" and "--axis".
  std::vector<std::string> all_names() const;
  /// Returns the last name, which is the long one; "" for words without an option.
  std::string name() const;
};

using OptionList = std::vector<Option>;

/// Puts the lists into one.
OptionList joined(std::initializer_list<OptionList> lists);
/// Returns the list with all of it under one heading.
OptionList grouped(std::string_view group, OptionList list);

/// Returns the option with the names that it had before: "--output,--format".
Option renamed(std::string_view formerly, Option option);

/// The value goes to `place`, which must outlive the option. Vectors collect values.
Values to(std::string& place);
Values to(std::optional<std::string>& place);
Values to(std::filesystem::path& place);
Values to(std::vector<std::string>& place);
/// A flag makes `place` true, or what `value` says.
Values to(bool& place, bool value = true);
/// The flag is looked for by its name (Given::has).
Values asked();
/// The value of a list, with what completion offers.
Values to(std::vector<std::string>& place, Completes completes);

/// Returns the value of `option`, which must consist of digits and lie from `low` to `high`. Throws
/// UsageError for any other text.
std::uint64_t whole_within(std::string_view option, const std::string& text, std::uint64_t low,
                           std::uint64_t high);
/// Does the same for a finite number.
double number_within(std::string_view option, const std::string& text, double low, double high);

/// The value is a whole number from `low` to `high`.
template <class Whole>
Values whole(Whole& place, std::uint64_t low, std::uint64_t high) {
  return {[=, &place](std::string_view option, const std::string& text) {
    place = static_cast<Whole>(whole_within(option, text, low, high));
  }};
}

/// The value is a whole number within `limits`.
template <class Whole>
Values whole(Whole& place, const harness::Limits& limits) {
  return whole(place, static_cast<std::uint64_t>(limits.least),
               static_cast<std::uint64_t>(limits.most));
}

/// The value is a number from `low` to `high`.
template <class Number>
Values number(Number& place, double low, double high) {
  return {[=, &place](std::string_view option, const std::string& text) {
    place = static_cast<Number>(number_within(option, text, low, high));
  }};
}

/// Returns the share that a text says: "0.05", from 0 to 1, or "5%", up to 10000%. Throws
/// UsageError for any other text.
double share_of(std::string_view option, const std::string& text);

/// The value is a share.
template <class Place>
Values share(Place& place) {
  return {[&place](std::string_view option, const std::string& text) {
    place = share_of(option, text);
  }};
}

/// Throws UsageError for a word that is not one of `words`, with a suggestion.
[[noreturn]] void refuse_word(std::string_view option, const std::string& word,
                              const std::vector<std::string>& words);

/// The value is one of some words, each of which stands for a value of `place`.
template <class Value>
Values choice(Value& place,
              std::vector<std::pair<std::string_view, std::type_identity_t<Value>>> meanings) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : meanings) words.emplace_back(word);
  const auto take = [=, &place](std::string_view option, const std::string& text) {
    std::vector<std::string_view> names = other_names(text);
    names.insert(names.begin(), text);
    for (const std::string_view name : names) {
      for (const auto& [word, meaning] : meanings) {
        if (word != name) continue;
        place = meaning;
        return;
      }
    }
    refuse_word(option, text, words);
  };
  return {take, words};
}

}  // namespace howard::cli
