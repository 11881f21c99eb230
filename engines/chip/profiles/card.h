// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/sim_time.h"
#include "engines/chip/profiles/band.h"

namespace howard::chip {

/// Says in words which launch it is: launches of the same words take the same time.
struct LaunchWords {
  std::string op;  ///< "matmul"
  std::string in;  ///< "32x4096 bfloat16 in L1, 4096x6144 bfloat8_b"; the same of its results.
  std::string out;
  std::string told;  ///< Its other arguments as ttnn prints them: "transpose_b=true".
  std::string grid;  ///< The cores that it was given: "8x8".

  friend auto operator<=>(const LaunchWords&, const LaunchWords&) = default;
};

/// Holds what runs of one call on a card took.
struct CardKernel {
  LaunchWords words;
  std::string kind;  ///< What it may be like: "add", "add in L1", "matmul 1d_in0".
  SimTime time;      ///< The median of its runs, from the first core's start to the last's end.
  SimTime built_in;  ///< What the emulator says without a card.
  std::int64_t runs = 1;
  double error = 0;           ///< How far a run is from the median in the mean: 0.01 is 1 %.
  double built_in_error = 0;  ///< How far the emulator's times of its kind are off in the mean.
  Band band{};                ///< Of `error`.
};

/// Returns what stays of a call whose numbers have other types or fidelity: its op, its shapes and
/// where they lie.
std::string shapes_of(const LaunchWords& words);

/// Holds what calls of the same shapes take in sum. One that did not run with these types takes so
/// much longer than the emulator says as they do: a change of types gains on the card what it gains
/// there.
struct CardShapes {
  SimTime time, built_in;
  std::int64_t calls = 0;
  double error = 0;  ///< The sum of the calls' built_in_error.
  Band band{};
};

/// Says how a card's calls of one kind differ from what the emulator says of them.
struct CardKind {
  std::string kind;
  std::int64_t factor = kOne;  ///< The emulator's time becomes so much longer, in ten-thousandths.
  std::int64_t calls = 0;      ///< The different calls behind it.
  double built_in_error = 0;   ///< The mean error of the emulator without the factor.
  double error = 0;            ///< With it, of calls that the factor has not seen.
  Band band{};                 ///< Of `error`.

  static constexpr std::int64_t kOne = 10'000;
};

/// Holds what logs of the user's own card say, as a file of kind "card" that `learn` writes: the
/// times of calls that ran there, and how others of their kinds differ from the emulator's.
struct Card {
  std::string name;
  std::string chip, software;       ///< The built-in profiles to which its times belong.
  std::vector<std::string> logs;    ///< The files behind it.
  std::vector<CardKernel> kernels;  ///< Sorted by their words, each once.
  std::vector<CardKind> kinds;      ///< Sorted by their names, each once.
  std::map<std::string, CardShapes> shapes = {};  ///< Of the kernels, by shapes_of().

  /// Parses a file; `origin` is its name in errors. Throws Error for anything else, and for times,
  /// runs, errors and factors that no card has.
  static Card parse(std::string_view json, std::string_view origin);
  /// Returns the file's text, with a line for each kernel and each kind.
  std::string to_json() const;

  /// Returns what the card says of a launch; null if such a one never ran there.
  const CardKernel* find(const LaunchWords& words) const;
  /// Returns what it says of calls of these shapes; null if none ran there.
  const CardShapes* find_shapes(const LaunchWords& words) const;
  /// Returns what it says of a kind; null if the emulator is as near without it.
  const CardKind* find(std::string_view kind) const;
};

/// Returns the card of a file's text, which is kept as long as the process, so that plans can refer
/// to what it says.
const Card& kept_card(std::string_view json, const std::string& origin);

}  // namespace howard::chip
