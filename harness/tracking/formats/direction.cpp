// SPDX-License-Identifier: Apache-2.0
#include "harness/tracking/formats/direction.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace howard::tracking {
namespace {

using harness::Better;

bool is_small(char letter) { return std::islower(static_cast<unsigned char>(letter)) != 0; }
bool is_large(char letter) { return std::isupper(static_cast<unsigned char>(letter)) != 0; }

/// Returns the words of a name in small letters: "missRate" and "Miss_rate" are "miss", "rate".
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool in_word = std::isalnum(static_cast<unsigned char>(name[i])) != 0;
    if (!in_word || (i > 0 && is_large(name[i]) && is_small(name[i - 1]))) words.emplace_back();
    if (in_word) words.back() += name[i];
  }
  std::erase(words, "");
  for (std::string& word : words) word = lower_case(word);
  return words;
}

template <std::size_t count>
bool is_one_of(std::string_view word, const std::array<std::string_view, count>& words) {
  return std::ranges::find(words, word) != words.end();
}

/// Returns whether something for each of these is a rate.
bool is_span(std::string_view word) {
  constexpr std::array<std::string_view, 14> kSpans{
      "s",       "sec", "secs", "second", "seconds", "min", "minute",
      "minutes", "h",   "hour", "hours",  "ms",      "clk", "cycle"};
  return is_one_of(word, kSpans);
}

bool is_unwanted(std::string_view word) {
  constexpr std::array<std::string_view, 20> kUnwanted{
      "error",    "errors", "miss",   "misses",   "loss",     "losses",   "latency",
      "time",     "drop",   "drops",  "dropped",  "fail",     "failed",   "failure",
      "failures", "fault",  "faults", "overhead", "slowdown", "conflicts"};
  return is_one_of(word, kUnwanted);
}

bool is_wanted(std::string_view word) {
  constexpr std::array<std::string_view, 26> kWanted{
      "throughput", "goodput",   "bandwidth",   "speedup",     "rate",     "fps", "qps",
      "rps",        "tps",       "iops",        "ipc",         "mfu",      "hit", "hits",
      "efficiency", "score",     "utilization", "utilisation", "accuracy", "bps", "mbps",
      "gbps",       "frequency", "occupancy",   "mips",        "hz"};
  return is_one_of(word, kWanted) || word.ends_with("flops") || word.ends_with("hz");
}

/// Returns whether the name ends in a rate, as "bytes_per_second" or "tokens/s" do.
bool ends_in_rate(std::string_view name, const std::vector<std::string>& words) {
  if (words.size() < 2 || !is_span(words.back())) return false;
  return words[words.size() - 2] == "per" || name.find('/') != std::string_view::npos;
}

}  // namespace

std::optional<double> seconds_of_unit(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 14> kUnits{{{"ns", 1e-9},
                                                                        {"nanoseconds", 1e-9},
                                                                        {"us", 1e-6},
                                                                        {"µs", 1e-6},
                                                                        {"μs", 1e-6},
                                                                        {"usec", 1e-6},
                                                                        {"microseconds", 1e-6},
                                                                        {"ms", 1e-3},
                                                                        {"msec", 1e-3},
                                                                        {"milliseconds", 1e-3},
                                                                        {"s", 1.0},
                                                                        {"sec", 1.0},
                                                                        {"second", 1.0},
                                                                        {"seconds", 1.0}}};
  for (const std::string_view repetition : {"/op", "/iter"}) {
    if (unit.ends_with(repetition)) unit.remove_suffix(repetition.size());
  }
  for (const auto& [word, seconds] : kUnits) {
    if (unit == word) return seconds;
  }
  return std::nullopt;
}

Better better_direction(std::string_view name, std::string_view unit) {
  if (seconds_of_unit(unit)) return Better::lower;
  const std::vector<std::string> unit_words = words_of(unit);
  if (ends_in_rate(unit, unit_words) || (unit_words.size() == 1 && is_wanted(unit_words.front()))) {
    return Better::higher;
  }
  const std::vector<std::string> words = words_of(name);
  if (std::ranges::any_of(words, is_unwanted)) return Better::lower;
  const bool is_better = ends_in_rate(name, words) || std::ranges::any_of(words, is_wanted);
  return is_better ? Better::higher : Better::lower;
}

}  // namespace howard::tracking
